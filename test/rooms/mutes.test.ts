import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openRoomTap } from '../../src/media/rooms/janus/tap.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { launchBrowser, type TestBrowser } from '../harness/browser.ts';
import { waitFor } from '../harness/wait-for.ts';
import { createRoom, joinRoom, type RoomClient } from './client.ts';
import { NO_JANUS } from './janus.ts';
import { type JanusApp, startJanusApp } from './janus-app.ts';

/** Page with a connection that sends tones and changing video, and that a test negotiates freely. */
const PAGE = `<!doctype html><link rel="icon" href="data:,"><script>
  const pc = new RTCPeerConnection();
  const audio = new AudioContext();
  function track(kind) {
    if (kind === 'audio') {
      const tone = audio.createOscillator();
      const out = audio.createMediaStreamDestination();
      tone.connect(out);
      tone.start();
      return out.stream.getTracks()[0];
    }
    const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 90 });
    const paint = canvas.getContext('2d');
    setInterval(() => {
      paint.fillStyle = 'hsl(' + Math.random() * 360 + ' 80% 50%)';
      paint.fillRect(0, 0, 160, 90);
    }, 50);
    return canvas.captureStream(20).getTracks()[0];
  }
  async function offer(kinds) {
    for (const kind of kinds) pc.addTransceiver(track(kind), { direction: 'sendonly' });
    await pc.setLocalDescription();
    return pc.localDescription.sdp;
  }
  const answer = (sdp) => pc.setRemoteDescription({ type: 'answer', sdp });
</script>`;

describe('the mute of a host at Janus', { skip: NO_JANUS }, () => {
  let janus: JanusApp;
  let browser: TestBrowser;
  let key: string;
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(PAGE);
  });
  before(async () => {
    [janus, browser] = await Promise.all([startJanusApp(22_100), launchBrowser()]);
    ({ key } = await janus.app.createKey());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    server.close();
    await browser.close();
    await janus.close();
  });

  /** Opens a room with one participant, and counts the packets that Janus forwards from them. */
  async function openRoom(t: TestContext) {
    const roomId = await createRoom(janus.app, key);
    const eve = await joinRoom(janus.app, key, roomId, { identity: 'eve' });
    const packets = new Map<string, number>();
    const tap = await openRoomTap({
      ...{ linkFile: janus.linkFile, room: roomId, log: createLogger('silent', { process: 'test' }) },
      ...{ onTrack() {}, onGone() {}, onSpeech() {} },
      onPacket({ source, kind }) {
        const name = `${source} ${kind}`;
        packets.set(name, (packets.get(name) ?? 0) + 1);
      },
    });
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : null;
    const { page, close } = await browser.open(`http://127.0.0.1:${port}/`);
    t.after(async () => {
      await close();
      await tap.stop();
      await eve.close();
    });
    const count = (name: string) => packets.get(name) ?? 0;
    return {
      ...{ roomId, eve, page, count },
      async arrives(name: string) {
        const from = count(name);
        await waitFor(() => count(name) > from + 5, { timeoutMs: 10_000, message: `packets of ${name}` });
      },
      /** Waits until nothing of it arrives for half a second, while other tracks do. */
      async stops(name: string) {
        let last = -1;
        const isStill = () => {
          const before = last;
          last = count(name);
          return last === before;
        };
        await waitFor(isStill, { timeoutMs: 5000, intervalMs: 500, message: `no more packets of ${name}` });
      },
      mute: async (kind: string, muted = true) => {
        const path = `/rooms/${roomId}/participants/eve/mute`;
        (await janus.app.request('POST', path, { key, body: { kind, muted } })).assertOk(200);
      },
    };
  }

  const offerOf = (page: Page, ...kinds: string[]) =>
    page.evaluate<string>(`offer(${JSON.stringify(kinds)})`);

  /** @returns the answer, or the error code. */
  async function send(client: RoomClient, sdp: string, sources: object): Promise<string> {
    const from = client.messages.length;
    client.send({ type: 'signal', data: { op: 'publish', sdp, sources } });
    const found = await waitFor(() =>
      client.messages.slice(from).find(({ type, data }) => type === 'error' || Object(data).op === 'answer'),
    );
    return String(found.type === 'error' ? found.code : Object(found.data).sdp);
  }

  const agree = async (page: Page, client: RoomClient, sdp: string, sources: object) => {
    const answer = await send(client, sdp, sources);
    assert.match(answer, /^v=0/);
    await page.evaluate(`answer(${JSON.stringify(answer)})`);
  };

  test('covers a section that a later offer leaves out', async (t) => {
    const room = await openRoom(t);
    const sources = { 0: 'MICROPHONE', 1: 'CAMERA' };
    await agree(room.page, room.eve, await offerOf(room.page, 'audio', 'video'), sources);
    await room.arrives('CAMERA VIDEO');
    const [head = '', audio = ''] = (await offerOf(room.page)).split(/^(?=m=)/m);
    await send(room.eve, head + audio, { 0: 'MICROPHONE' });
    await room.mute('VIDEO');
    await room.stops('CAMERA VIDEO');
    await room.arrives('MICROPHONE AUDIO');
  });

  test('a mute covers tracks published later, and all audio', async (t) => {
    const room = await openRoom(t);
    await agree(room.page, room.eve, await offerOf(room.page, 'audio'), { 0: 'MICROPHONE' });
    await room.arrives('MICROPHONE AUDIO');
    await room.mute('VIDEO');
    await room.mute('AUDIO');
    await room.stops('MICROPHONE AUDIO');
    const sources = { 0: 'MICROPHONE', 1: 'CAMERA', 2: 'SCREEN', 3: 'SCREEN' };
    const sdp = await offerOf(room.page, 'video', 'video', 'audio');
    await agree(room.page, room.eve, sdp, sources);
    await room.arrives('SCREEN VIDEO');
    assert.deepEqual([room.count('CAMERA VIDEO'), room.count('SCREEN AUDIO')], [0, 0]);
    await room.mute('AUDIO', false);
    await room.arrives('SCREEN AUDIO');
    await room.mute('SCREEN');
    await Promise.all([room.stops('SCREEN AUDIO'), room.stops('SCREEN VIDEO')]);
    await room.arrives('MICROPHONE AUDIO');
    assert.equal(room.count('CAMERA VIDEO'), 0);
  });
});
