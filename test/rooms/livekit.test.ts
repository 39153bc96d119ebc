import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RoomServiceClient } from 'livekit-server-sdk';
import type { Page } from 'playwright-core';
import type { RoomEngineEvent, RoomPermissions } from '../../src/media/rooms/engine.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { FAKE_DEVICES, launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { freePort } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';
import { createRoom, joinRoom, mintToken } from './client.ts';
import { livekitUnavailableReason, openLivekit, startLivekit, type TestLivekit } from './livekit.ts';
import { type Guest, openStudio } from './studio.ts';

const WEB = join(import.meta.dirname, '../../web/dist');
const SLOW = { timeout: 30_000 };
const skip = livekitUnavailableReason() ?? false;
/** Page script that lets a test break a WebSocket. */
const SOCKETS = `
  window.sockets = [];
  window.WebSocket = class extends WebSocket { constructor(...given) { super(...given); window.sockets.push(this); } };
`;
let browser: TestBrowser;
before(async () => {
  if (skip === false) browser = await launchBrowser(FAKE_DEVICES);
});
after(() => browser?.close());

test('mutes are enforced by the server, media recover with LiveKit, and only people in the room receive media', {
  skip,
}, async () => {
  const { engine, server, close } = await openLivekit();
  const events: RoomEngineEvent[] = [];
  engine.onEvent((event) => events.push(event));
  const studio = await openStudio({ browser, engine });
  // Longer, in bytes, than LiveKit allows for an identity.
  const his = 'Bob𝄞'.repeat(32);
  const [ada, bob] = [await studio.enter('ada'), await studio.enter(his)];
  await Promise.all([ada.publish('CAMERA', 'MICROPHONE'), bob.publish('CAMERA')]);
  await Promise.all([bob.sees('ada'), bob.hears('ada'), ada.sees(his)]);
  const tracksOf = async (identity: string) =>
    (await engine.listParticipants(studio.ref)).find((one) => one.identity === identity)?.tracks;

  await engine.setMuted(studio.ref, 'ada', 'VIDEO', true);
  await waitFor(async () => (await bob.arrived('ada', 'CAMERA', 'video')) === null, { timeoutMs: 10_000 });
  await bob.hears('ada');
  assert.deepEqual(await tracksOf('ada'), [
    { kind: 'AUDIO', muted: false },
    { kind: 'VIDEO', muted: true },
  ]);
  await engine.setMuted(studio.ref, 'ada', 'VIDEO', false);
  await bob.sees('ada');
  await bob.unpublish('CAMERA');
  await waitFor(() => events.some((event) => event.type === 'tracks' && event.identity === his));
  await bob.publish('CAMERA');
  await ada.sees(his);

  const kept = await tokenOf(studio.ref);
  await intrude(studio.ref, bob, kept);
  assert.ok(events.some((event) => event.type === 'joined' && event.identity === 'mallory'));
  assert.equal(await ada.arrived('mallory', 'CAMERA', 'video'), null);
  await ada.sees(his);

  const killed = performance.now();
  await server.kill();
  await waitFor(() => [ada, bob].every(({ told }) => told.some(({ state }) => state === 'down')));
  for (const { told } of [ada, bob]) assert.ok((told[0]?.at ?? Infinity) - killed < 15_000);
  await server.start();
  await waitFor(() => bob.told.some(({ state }) => state === 'up'), { message: 'LiveKit is back' });
  await Promise.all([bob.sees('ada'), bob.hears('ada'), ada.sees(his)]);
  await engine.endRoom(studio.ref);
  await engine.endRoom(studio.ref);
  assert.deepEqual(await engine.listParticipants(studio.ref), []);
  await assert.rejects(intrude(studio.ref, bob, kept), /room does not exist/);
  await studio.close();
  await close();

  /** Returns the token of a participant who was admitted, and then removed. */
  async function tokenOf(ref: string): Promise<{ url: string; token: string }> {
    const permissions = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };
    const given: { url: string; token: string }[] = [];
    const mallory = { identity: 'mallory', name: null, role: 'SPEAKER' as const, permissions };
    const connection = await engine.connect(ref, mallory, ({ url, token }) => {
      if (typeof token === 'string') given.push({ url: String(url), token });
    });
    await connection.signal({ op: 'hello' });
    await engine.removeParticipant(ref, 'mallory');
    assert.ok(given[0] !== undefined);
    return given[0];
  }
});

/** Page script of a LiveKit client that sends arbitrary tracks with a stolen token. */
const INTRUDER = `(async () => {
  const { Room } = await import('livekit-client');
  const rooms = new Map();
  window.eve = {
    async join(name, url, token) {
      rooms.set(name, new Room());
      await rooms.get(name).connect(url, token);
    },
    async send(name, kind, source) {
      const [track] = (await navigator.mediaDevices.getUserMedia({ [kind]: true })).getTracks();
      return rooms.get(name).localParticipant.publishTrack(track, { source }).then(() => 'sent', String);
    },
    state: (name) => rooms.get(name).state,
  };
})()`;

test('a viewer cannot send, and a mute applies to older tokens, later tracks and false sources', {
  skip,
}, async (t) => {
  const { engine, server, close } = await openLivekit();
  const studio = await openStudio({ browser, engine });
  t.after(async () => {
    await studio.close();
    await close();
  });
  const { page } = await studio.enter('host');
  await page.evaluate(INTRUDER);
  const call = (name: string, ...given: string[]) =>
    page.evaluate<unknown>(`window.eve.${name}(...${JSON.stringify(given)})`);
  const enter = async (identity: string, permissions: Partial<RoomPermissions> = {}) => {
    const tokens: string[] = [];
    const all = { canPublish: true, canSubscribe: true, canPublishData: true, canScreenShare: true };
    const peer = { identity, name: null, role: 'SPEAKER' as const, permissions: { ...all, ...permissions } };
    const connection = await engine.connect(studio.ref, peer, ({ token }) => tokens.push(String(token)));
    await connection.signal({ op: 'hello' });
    return tokens.at(-1) ?? '';
  };
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: secret } = server.env;
  const api = new RoomServiceClient(url, apiKey, secret);
  const sentBy = async (identity: string) =>
    (await api.listParticipants(studio.ref)).find((one) => one.identity === identity)?.tracks.length;

  const none = { canPublish: false, canScreenShare: false };
  await call('join', 'viewer', url, await enter('viewer', none));
  for (const [kind, source] of [
    ['video', 'camera'],
    ['audio', 'microphone'],
    ['video', 'screen_share'],
    ['video', 'unknown'],
  ] as const)
    assert.match(String(await call('send', 'viewer', kind, source)), /insufficient permissions/, source);
  assert.equal(await sentBy('viewer'), 0);

  const older = await enter('eve');
  await enter('eve');
  await engine.setMuted(studio.ref, 'eve', 'VIDEO', true);
  await engine.setMuted(studio.ref, 'eve', 'AUDIO', true);
  await call('join', 'eve', url, older);
  // It may be accepted until LiveKit has reported her.
  await call('send', 'eve', 'video', 'camera');
  await waitFor(async () => (await sentBy('eve')) === 0, {
    timeoutMs: 10_000,
    message: 'her camera is gone',
  });
  for (const [kind, source] of [
    ['video', 'camera'],
    ['audio', 'microphone'],
    ['audio', 'screen_share_audio'],
  ] as const)
    assert.match(String(await call('send', 'eve', kind, source)), /insufficient permissions/, source);
  await call('send', 'eve', 'audio', 'screen_share');
  await waitFor(async () => (await call('state', 'eve')) === 'disconnected', { timeoutMs: 10_000 });
  assert.equal(await sentBy('eve'), undefined);
});

/** Joins from a page with a separate client, sends, and subscribes to everything. */
async function intrude(ref: string, { page }: Guest, { url, token }: { url: string; token: string }) {
  const state = () => page.evaluate('window.intruder.state()') as Promise<[allowed: number, denied: number]>;
  await page.evaluate(`(async () => {
    const { Room } = await import('livekit-client');
    const room = new Room();
    const publications = () => [...room.remoteParticipants.get('ada').trackPublications.values()];
    window.intruder = {
      state: () => {
        const denied = publications().filter((one) => one.permissionStatus === 'not_allowed').length;
        return [publications().filter((one) => one.track !== undefined).length, denied];
      },
      leave: () => room.disconnect(),
    };
    await room.connect(${JSON.stringify(url)}, ${JSON.stringify(token)});
    const [track] = (await navigator.mediaDevices.getUserMedia({ video: true })).getTracks();
    await room.localParticipant.publishTrack(track, { source: 'camera' });
  })()`);
  const message = async () => `${ref} refuses its tracks: ${await state()}`;
  await waitFor(async () => (await state())[1] === 2, {
    timeoutMs: 15_000,
    message: String(await message()),
  });
  assert.deepEqual(await state(), [0, 2]);
  await page.evaluate('window.intruder.leave()');
}

/** Joins without the gateway, by the page's own script. @returns when LiveKit has ended the connection. */
async function comeBack(page: Page, data: { url: string; token: string }): Promise<void> {
  const manifest = JSON.parse(await readFile(join(WEB, 'manifest.json'), 'utf8'));
  await page.evaluate(`(async () => {
    const { createLivekit } = await import('/assets/${manifest['room/client/livekit.ts'].file.split('/').at(-1)}');
    const ended = Promise.withResolvers();
    const host = { self: 'mallory', iceServers: [], send() {}, onTrack() {}, onTrackGone() {}, onState: ended.resolve };
    const engine = createLivekit(host);
    for (const signal of [{ op: 'open' }, { op: 'token', ...${JSON.stringify(data)} }]) engine.signal(signal);
    await ended.promise;
  })()`);
}

describe('the platform with LiveKit', { skip }, () => {
  let app: TestApp;
  let other: TestApp;
  let server: TestLivekit;
  let key: string;
  let url: string;
  before(async () => {
    const port = await freePort();
    url = `http://localhost:${port}`;
    server = await startLivekit(`http://127.0.0.1:${port}/rtc/livekit/webhook`);
    const rooms = { name: 'livekit', lack: null } as const;
    const env = { ...server.env, PUBLIC_URL: url };
    app = await startTestApp({ env: { ...env, PORT: String(port) }, rooms });
    other = await startTestApp({ env: { ...env, PORT: String(await freePort()) }, rooms, beside: app });
    ({ key } = await app.createKey());
  });
  after(async () => {
    await other?.close();
    await app?.close();
    await server?.close();
  });

  const frames = (page: Page) =>
    page.evaluate<number>(`(() => {
      const videos = [...document.querySelectorAll('.tile[data-source=CAMERA] video')];
      const others = videos.filter((one) => !one.closest('.tile').textContent.includes('(you)') && !one.hidden);
      return Math.max(0, ...others.map((one) => one.getVideoPlaybackQuality().totalVideoFrames));
    })()`);
  const sees = async (page: Page) => {
    const before = await frames(page);
    await waitFor(async () => (await frames(page)) > before + 5, { timeoutMs: 15_000, message: 'pictures' });
  };

  test('people on two nodes meet on the join page under its policy, and a kick also applies at LiveKit', async () => {
    const id = await createRoom(app, key);
    const enter = async (at: TestApp, identity: string, role: string, devices: string[]) => {
      const token = await mintToken(app, key, id, { identity, role, name: identity });
      const watched = await browser.open(`http://localhost:${at.port}/r/${id}#token=${token}`, {
        ...{ permissions: ['camera', 'microphone'], initScript: SOCKETS },
      });
      const { page } = watched;
      for (const name of [...devices, 'Join'])
        await page.getByRole('button', { name, exact: true }).click(SLOW);
      return watched;
    };
    const [camera, microphone] = ['Turn on the camera', 'Turn on the microphone'];
    const host = await enter(app, 'Ada', 'HOST', [microphone]);
    const guest = await enter(other, 'Bob', 'SPEAKER', [camera, microphone]);
    await sees(host.page);
    for (const [{ page }, name] of [
      [host, 'Bob'],
      [guest, 'Ada'],
    ] as const)
      await page
        .locator('.tile[data-speaking]')
        .filter({ hasText: name })
        .waitFor({ state: 'attached', ...SLOW });

    const gateways = "sockets.filter(({ url }) => url.includes('/rtc/rooms/'))";
    await guest.page.evaluate(`${gateways}[0].close()`);
    await waitFor(() => guest.page.evaluate<boolean>(`${gateways}.length > 1`), {
      timeoutMs: 10_000,
      message: 'another connection to the gateway',
    });
    await sees(host.page);

    const interrupted = (page: Page) => page.getByText('Audio and video are interrupted.');
    await server.kill();
    await Promise.all([host, guest].map(({ page }) => interrupted(page).waitFor(SLOW)));
    await server.start();
    await Promise.all(
      [host, guest].map(({ page }) => interrupted(page).waitFor({ state: 'hidden', ...SLOW })),
    );
    await sees(host.page);

    const mallory = await joinRoom(app, key, id, { identity: 'mallory' });
    mallory.send({ type: 'signal', data: { op: 'hello' } });
    const { data } = await mallory.next('signal', (message) => Object(message.data).op === 'token');
    const kept = String(Object(data).token);
    for (const identity of ['mallory', 'Bob'])
      (await app.request('DELETE', `/rooms/${id}/participants/${identity}`, { key })).assertOk(200);
    await guest.page.getByRole('heading', { name: 'You are no longer in this room.' }).waitFor(SLOW);
    await waitFor(async () => (await frames(host.page)) === 0, { message: 'the picture of Bob goes' });

    const joined: string[] = [];
    app.container.roomEngine().onEvent((event) => {
      if (event.type === 'joined') joined.push(event.identity);
    });
    await comeBack(guest.page, { url: server.env.LIVEKIT_URL, token: kept });
    assert.deepEqual(joined, ['mallory']);
    const people = await app.container.roomEngine().listParticipants(id);
    assert.deepEqual(
      people.map(({ identity }) => identity),
      ['Ada'],
    );
    const isOfItsEnd = (error: string) => error.includes('ERR_CONNECTION') || /WebSocket/.test(error);
    for (const { errors } of [host, guest])
      assert.deepEqual(
        errors.filter((error) => !isOfItsEnd(error)),
        [],
      );
  });
});
