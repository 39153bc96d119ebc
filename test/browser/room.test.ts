import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { janusUnavailableReason, startJanus } from '../../src/media/rooms/janus/process.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { FAKE_DEVICES, launchBrowser, type TestBrowser, type WatchedPage } from '../harness/browser.ts';
import { assertAccessible } from '../harness/dashboard.ts';
import { freePort } from '../harness/platform.ts';
import { waitFor } from '../harness/wait-for.ts';

const SLOW = { timeout: 30_000 };
const ROOM_NAME = 'Rehearsal with Ada Lovelace';
const GUEST_NAME = 'Бен שלום 🎷';
/** Page script that records the requested devices and lets a test cut the connection to the gateway. */
const NOTES = `
  window.asked = 0;
  for (const name of ['getUserMedia', 'getDisplayMedia']) {
    const real = MediaDevices.prototype[name];
    MediaDevices.prototype[name] = function (...given) { window.asked += 1; return real.apply(this, given); };
  }
  window.refused = [];
  addEventListener('securitypolicyviolation', (event) => window.refused.push(event.violatedDirective));
  window.sockets = [];
  window.WebSocket = class extends WebSocket { constructor(...given) { super(...given); window.sockets.push(this); } };
`;

const lack = await janusUnavailableReason('janus');
let browser: TestBrowser;
/** Platform with its room engine. */
interface Place {
  app: TestApp;
  key: string;
  url: string;
}
let mesh: Place;
/** On Janus, where it is installed. */
let served: Place;
let janus: { stop(): Promise<void> } | null = null;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'room-page-'));
  // Otherwise Janus, which runs as a separate user, would work elsewhere and leave a folder there.
  await chmod(folder, 0o755);
  const linkFile = join(folder, 'janus.json');
  if (lack === null) {
    const ports = { first: 21_300, last: 21_399 };
    janus = startJanus({
      ...{ program: 'janus', folder: join(folder, 'janus'), linkFile, ports, publicIp: undefined },
      log: createLogger('silent', { process: 'test' }),
    });
  }
  [mesh, browser] = await Promise.all([startPlace('mesh'), launchBrowser(FAKE_DEVICES)]);
  served = lack === null ? await startPlace('janus', { ROOMS_LINK_FILE: linkFile }) : mesh;
});
after(async () => {
  await browser?.close();
  for (const { app } of new Set([mesh, served])) await app.close();
  await janus?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function startPlace(name: 'mesh' | 'janus', env: Record<string, string> = {}): Promise<Place> {
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const rooms = { name, lack: null };
  const app = await startTestApp({ rooms, env: { PORT: port, PUBLIC_URL: url, ...env } });
  return { app, url, key: (await app.createKey()).key };
}

const createRoom = async ({ app, key }: Place, more: object = {}) =>
  (await app.request('POST', '/rooms', { key, body: { name: ROOM_NAME, ...more } }))
    .assertOk(201)
    .string('data.id');

async function linkFor(
  { app, key }: Place,
  roomId: string,
  identity: string,
  role = 'SPEAKER',
): Promise<string> {
  const body = { identity, name: identity, role };
  return (await app.request('POST', `/rooms/${roomId}/tokens`, { key, body }))
    .assertOk(201)
    .string('data.url');
}

const open = (address: string, more: object = {}) =>
  browser.open(address, { initScript: NOTES, permissions: ['camera', 'microphone'], ...more });

const press = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).click(SLOW);

async function turnOnDevices(page: Page): Promise<void> {
  await press(page, 'Turn on the camera');
  await page.getByRole('button', { name: 'Turn off the camera' }).waitFor(SLOW);
  await press(page, 'Turn on the microphone');
  await page.getByRole('button', { name: 'Turn off the microphone' }).waitFor(SLOW);
}

const isIn = (page: Page) => page.getByRole('button', { name: 'Leave', exact: true }).last().waitFor(SLOW);

/** Returns the decoded frames of a participant's camera; 0 while no video is shown. */
const frames = (page: Page, name: string) =>
  page.evaluate<number>(`(() => {
    const tiles = [...document.querySelectorAll('.tile[data-source=CAMERA]')];
    const tile = tiles.find((one) => one.querySelector('bdi').textContent === ${JSON.stringify(name)});
    const video = tile?.querySelector('video');
    return video && !video.hidden ? video.getVideoPlaybackQuality().totalVideoFrames : 0;
  })()`);

/** Waits until more frames arrive. */
async function seesMore(page: Page, name: string): Promise<void> {
  const before = await frames(page, name);
  await waitFor(async () => (await frames(page, name)) > before + 5, {
    timeoutMs: 15_000,
    message: `pictures of ${name}`,
  });
}

const hears = (page: Page, name: string) =>
  page
    .locator('.tile[data-speaking]')
    .filter({ hasText: name })
    .filter({ hasNotText: '(you)' })
    .waitFor({ state: 'attached', ...SLOW });

const people = (page: Page) => page.locator('.tile[data-source=CAMERA]').count();

async function assertClean({ page, errors, strangers }: WatchedPage): Promise<void> {
  const isNoise = (error: string) => /ERR_INTERNET_DISCONNECTED|status of (404|410)/.test(error);
  assert.deepEqual(
    errors.filter((error) => !isNoise(error)),
    [],
  );
  assert.deepEqual(strangers, []);
  assert.deepEqual(await page.evaluate('window.refused'), []);
}

test('the page describes itself before a script runs, names no participant, and requests no device', async () => {
  const { app, key, url } = mesh;
  const roomId = await createRoom(mesh);
  const answer = await fetch(`${url}/r/${roomId}`);
  const html = await answer.text();
  assert.equal(answer.status, 200);
  assert.match(html, /<h1>Join the room<\/h1>/);
  assert.match(html, /<meta name="robots" content="noindex">/);
  assert.match(html, /<meta property="og:title" content="Join a room">/);
  assert.doesNotMatch(html, /Rehearsal|Lovelace/);
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /script-src 'self'; style-src 'self'; /);
  assert.doesNotMatch(policy, /unsafe/);
  assert.match(await (await fetch(`${url}/r/room_none`)).text(), /Room not found/);

  const lobby = await open(`${url}/r/${roomId}`, { viewport: { width: 390, height: 780 } });
  await assertAccessible(lobby.page, 'the lobby');
  await lobby.page.getByRole('button', { name: 'Ask to join' }).click();
  assert.equal(await lobby.page.evaluate('window.asked'), 0);
  await assertClean(lobby);
  await lobby.close();
  (await app.request('POST', `/rooms/${roomId}/end`, { key })).assertOk(200);
  const ended = await fetch(`${url}/r/${roomId}`);
  assert.equal(ended.status, 410);
  assert.match(await ended.text(), /The room has ended\./);
});

test('two people meet on the page: waiting room, video, audio, chat, raised hands, a lost network, the end', async () => {
  const { app, key, url } = mesh;
  const roomId = await createRoom(mesh);
  const host = await open(await linkFor(mesh, roomId, 'Ada', 'HOST'));
  const guest = await open(`${url}/r/${roomId}`, {
    viewport: { width: 390, height: 780 },
    colorScheme: 'dark',
  });
  assert.equal(new URL(host.page.url()).hash, '');
  await Promise.all([turnOnDevices(host.page), turnOnDevices(guest.page)]);
  await waitFor(() => host.page.evaluate<boolean>('document.querySelector("meter").value > 0.3'), {
    message: 'the level of the microphone',
  });
  await press(host.page, 'Join');
  await isIn(host.page);

  await guest.page.getByLabel('Your name').fill(GUEST_NAME);
  await press(guest.page, 'Ask to join');
  await guest.page.getByRole('heading', { name: 'Waiting to be admitted' }).waitFor(SLOW);
  await assertAccessible(guest.page, 'the waiting room');
  await press(host.page, 'People, 1 new');
  await press(host.page, `Admit: ${GUEST_NAME}`);
  await isIn(guest.page);

  await seesMore(guest.page, 'Ada');
  await seesMore(host.page, GUEST_NAME);
  await hears(guest.page, 'Ada');
  await hears(host.page, GUEST_NAME);
  await Promise.all([
    assertAccessible(host.page, 'the room'),
    assertAccessible(guest.page, 'the room at 390 px'),
  ]);

  // Shortcuts work while no text is entered.
  await guest.page.keyboard.press('m');
  await host.page.getByText('microphone off, camera on').waitFor(SLOW);
  await guest.page.keyboard.press('h');
  await host.page.getByText('hand raised').first().waitFor(SLOW);
  await press(guest.page, /^Chat/);
  await guest.page.getByLabel('Message everyone').fill('Hello <b>all</b>');
  await guest.page.keyboard.press('Enter');
  await press(host.page, 'Chat, 1 new');
  await host.page.locator('.chat-text').getByText('Hello <b>all</b>').waitFor(SLOW);
  await assertAccessible(guest.page, 'the chat at 390 px');
  await guest.page.keyboard.press('Escape');
  assert.equal(await guest.page.evaluate('document.activeElement.dataset.action'), 'chat');

  // The network is lost and restored: the same participant, without notifications.
  await guest.page.context().setOffline(true);
  await guest.page.evaluate('for (const socket of window.sockets) socket.close()');
  await guest.page.getByText('Connection lost.').waitFor(SLOW);
  await guest.page.context().setOffline(false);
  await guest.page.getByText('Connection lost.').waitFor({ state: 'hidden', ...SLOW });
  await seesMore(guest.page, 'Ada');
  await seesMore(host.page, GUEST_NAME);
  assert.equal(await people(host.page), 2);
  const { length } = (await app.request('GET', `/rooms/${roomId}/participants?state=ACTIVE`, { key })).list(
    'data',
  );
  assert.equal(length, 2);

  await press(guest.page, 'Leave');
  await guest.page.getByRole('heading', { name: 'You left the room.' }).waitFor(SLOW);
  await waitFor(async () => (await people(host.page)) === 1, { message: 'the guest is gone' });
  await assertClean(guest);
  await assertClean(host);
  await Promise.all([guest.close(), host.close()]);
});

test('a host mutes, shares the screen, removes, and ends the room for all participants', async () => {
  // Uses a media server if available, which then forwards all media.
  const roomId = await createRoom(served, { recordEnabled: true });
  const host = await open(await linkFor(served, roomId, 'Ada', 'HOST'), { colorScheme: 'dark' });
  await turnOnDevices(host.page);
  await press(host.page, 'Join');
  await isIn(host.page);
  const enter = async (name: string) => {
    const opened = await open(await linkFor(served, roomId, name));
    await turnOnDevices(opened.page);
    await press(opened.page, 'Join');
    await isIn(opened.page);
    return opened;
  };
  const ben = await enter('Ben');
  await seesMore(ben.page, 'Ada');
  await seesMore(host.page, 'Ben');
  await hears(host.page, 'Ben');
  const canRecord = await host.page.getByRole('button', { name: 'Record', exact: true }).count();
  assert.equal(canRecord, lack === null ? 1 : 0);
  await press(host.page, /^People/);
  await press(host.page, 'Mute: Ben');
  await ben.page.getByText('The host muted you.').waitFor(SLOW);
  await ben.page.getByRole('button', { name: 'Unmute' }).waitFor(SLOW);

  await press(host.page, 'Share screen');
  await host.page.getByRole('button', { name: 'Stop sharing' }).waitFor(SLOW);
  await ben.page.getByText('Ada: screen').waitFor(SLOW);
  await press(host.page, 'Stop sharing');
  await ben.page.getByText('Ada: screen').waitFor({ state: 'detached', ...SLOW });
  await press(ben.page, /^Speaker view/);
  await ben.page.locator('.stage-front .tile').filter({ hasText: 'Ada' }).waitFor(SLOW);

  await press(host.page, 'Remove: Ben');
  await assertAccessible(host.page, 'the question before somebody is removed');
  await press(host.page, 'Remove');
  await ben.page.getByRole('heading', { name: 'You are no longer in this room.' }).waitFor(SLOW);
  const cleo = await enter('Cleo');
  await press(host.page, 'Leave');
  await press(host.page, 'End for everyone');
  await cleo.page.getByRole('heading', { name: 'The room has ended.' }).waitFor(SLOW);
  await host.page.getByRole('heading', { name: 'The room has ended.' }).waitFor(SLOW);
  for (const watched of [host, ben, cleo]) {
    await assertClean(watched);
    await watched.close();
  }
});

test('denied or missing devices are explained, and joining works without them', async () => {
  const roomId = await createRoom(mesh, { waitingRoom: false });
  const failing = `${NOTES}
    MediaDevices.prototype.getUserMedia = async ({ video }) => {
      throw new DOMException('', video ? 'NotAllowedError' : 'NotFoundError');
    };`;
  const { page, close } = await open(await linkFor(mesh, roomId, 'Ada'), { initScript: failing });
  await press(page, 'Turn on the camera');
  await page.getByText(/not allowed to use the camera here. Allow it with the icon/).waitFor(SLOW);
  await press(page, 'Turn on the microphone');
  await page.getByText(/No microphone was found. Connect a microphone/).waitFor(SLOW);
  await assertAccessible(page, 'the lobby without devices');
  await press(page, 'Join');
  await isIn(page);
  await page.getByText('Only you are here').waitFor(SLOW);
  await press(page, 'Leave');
  await page.getByRole('heading', { name: 'You left the room.' }).waitFor(SLOW);
  await close();
});
