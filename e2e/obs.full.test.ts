import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { launchBrowser, type TestBrowser } from '../test/harness/browser.ts';
import { obsUnavailableReason, startObs } from '../test/harness/obs.ts';
import { createPartner, type Partner } from '../test/harness/partner.ts';
import { freePort, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';

const CUT_MS = 6000;
const lack = obsUnavailableReason();

let platform: RunningPlatform;
let partner: Partner;
let browser: TestBrowser;

before(async () => {
  if (lack !== null) return;
  [platform, browser] = await Promise.all([startPlatform(), launchBrowser()]);
  partner = createPartner(platform);
});
after(async () => {
  await browser?.close();
  await platform?.stop();
});

/** Connection from the encoder to the platform, which can be cut. */
class Cable {
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  readonly #target: number;
  #server: Server | null = null;

  constructor(port: number, target: number) {
    [this.#port, this.#target] = [port, target];
  }

  async plug(): Promise<void> {
    this.#server = createServer((client) => {
      const upstream = connect(this.#target, '127.0.0.1');
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream).pipe(client);
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
    this.#server?.close();
  }
}

test('OBS plays, reconnects to the same broadcast, and is disconnected by a new key', {
  skip: lack ?? false,
}, async (t) => {
  const port = await freePort();
  const cable = new Cable(port, platform.rtmpPort);
  await cable.plug();
  t.after(() => cable.cut());
  const stream = await partner.createStream();
  const obs = await startObs({
    ...{ type: 'rtmp_custom', server: `rtmp://127.0.0.1:${port}/live`, key: stream.streamKey },
    ...{ use_auth: false, bwtest: false },
  });
  t.after(() => obs.close());
  const hasSignal = (expected: boolean) =>
    waitFor(async () => (await partner.stream(stream.id)).hasSignal === expected, {
      timeoutMs: 60_000,
      message: `hasSignal ${expected}; OBS ${obs.isRunning() ? 'runs' : 'has ended'}`,
    });
  await hasSignal(true);
  await partner.start(stream.id);
  const { page, close } = await browser.open(`${platform.url}/watch/${stream.id}`);
  t.after(close);
  const frames = () =>
    page.evaluate<number>('document.querySelector("video")?.getVideoPlaybackQuality().totalVideoFrames ?? 0');
  const plays = async () => {
    const from = await frames();
    await waitFor(async () => (await frames()) > from + 60, { timeoutMs: 60_000, message: 'more pictures' });
  };
  await plays();
  assert.equal(await page.evaluate('document.querySelector("video").videoWidth'), 640);
  await waitFor(async () => (await partner.stream(stream.id)).health?.issues.length === 0, {
    timeoutMs: 30_000,
    message: 'a signal that nothing is wrong with',
  });

  const sessions = async () =>
    JSON.stringify(Object((await partner.call('GET', `/streams/${stream.id}/sessions`)).data).length);
  const before = await sessions();
  cable.cut();
  await hasSignal(false);
  await page.waitForTimeout(CUT_MS);
  await cable.plug();
  await hasSignal(true);
  await plays();
  assert.deepEqual([await sessions(), (await partner.stream(stream.id)).isLive], [before, true]);

  await partner.call('POST', `/streams/${stream.id}/rotate-key`);
  await hasSignal(false);
  assert.equal((await partner.stream(stream.id)).status, 'LIVE_NO_SIGNAL');
  await partner.stop(stream.id);
});
