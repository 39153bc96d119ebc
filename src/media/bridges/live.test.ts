import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { before, type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { startBridge } from '../../../test/bridges/bridge.ts';
import { startCamera } from '../../../test/bridges/rtsp-server.ts';
import { createTestCa } from '../../../test/harness/certificates.ts';
import { freePort } from '../../../test/harness/platform.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import {
  NO_NGINX_RTMP,
  startNginxRtmp,
  startTcp,
  startTlsFront,
} from '../../../test/restream/destinations.ts';
import { startPublisher } from '../../../test/rtmp/publisher.ts';

const FPS = 15;
let trusted: { key: string; cert: string };
/** Certificate from an untrusted authority. */
let stranger: typeof trusted;
before(async () => {
  const [ca, other] = await Promise.all([createTestCa(), createTestCa()]);
  setDefaultCACertificates([...getCACertificates('default'), ca.pem]);
  trusted = await ca.issue(['localhost']);
  stranger = await other.issue(['localhost']);
  await Promise.all([ca.close(), other.close()]);
});

test('a stream of an RTMP server is pulled with and without TLS, ends with it, and resumes', {
  skip: NO_NGINX_RTMP,
}, async (t) => {
  const nginx = await startNginxRtmp(t);
  const url = `${nginx.url}/a-secret-name`;
  const publish = () =>
    startPublisher({ url, width: 320, height: 180, fps: FPS, bitrateKbps: 200, gopSec: 1 });
  let encoder = publish();
  t.after(() => encoder.kill('SIGKILL'));
  await waitFor(async () => (await nginx.stream('a-secret-name'))?.publishing === true, {
    timeoutMs: 10_000,
  });
  const once = await startBridge(t, url);
  const again = await startBridge(t, url, { autoRestart: true });
  const front = await startTlsFront(t, trusted, Number(new URL(nginx.url).port));
  const secured = await startBridge(t, `rtmps://localhost:${front}/live/a-secret-name`);
  await Promise.all([once.when('ACTIVE'), again.when('ACTIVE'), secured.when('ACTIVE')]);
  const before = once.frames();
  const startedMs = performance.now();
  await waitFor(() => once.frames() >= before + 2 * FPS, { timeoutMs: 10_000 });
  assert.ok(performance.now() - startedMs > 1500, 'at its own pace');
  assert.ok(once.sounds() > 50);
  await waitFor(() => secured.frames() >= 2 * FPS && secured.sounds() > 50, { timeoutMs: 10_000 });
  await encoder.stop();
  assert.equal((await once.when('STOPPED')).endReason, 'SOURCE_ENDED');
  assert.equal((await secured.when('STOPPED')).endReason, 'SOURCE_ENDED');
  assert.match((await again.when('PENDING')).message ?? '', /ended its broadcast/);
  assert.equal(again.ingest.ends()[0]?.reason, 'closed', 'the signal has its grace');
  encoder = publish();
  await waitFor(() => again.ingest.sessions('start').length === 2, {
    timeoutMs: 15_000,
    message: () => JSON.stringify(again.reports),
  });
  assert.ok(!JSON.stringify(again.reports).includes('a-secret-name'));
});

/** Starts ffmpeg as a server that sends endlessly, as fast as the client reads. */
function floodRtmp(t: TestContext, url: string): void {
  const picture = ['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=${FPS}`];
  const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'];
  const server = ['-g', String(FPS), '-f', 'flv', '-listen', '1', url];
  const child = spawn('ffmpeg', ['-v', 'error', '-nostdin', ...picture, ...coded, ...server], {
    stdio: 'ignore',
  });
  t.after(() => child.kill('SIGKILL'));
}

test('a source that sends endlessly at full speed is read at the pace of its media', async (t) => {
  const url = `rtmp://127.0.0.1:${await freePort()}/live/a`;
  floodRtmp(t, url);
  const bridge = await startBridge(t, url, { autoRestart: true });
  await bridge.when('ACTIVE');
  const startedMs = performance.now();
  // It may run ahead by ten seconds.
  await waitFor(() => bridge.frames() >= 14 * FPS, {
    timeoutMs: 15_000,
    message: () => `${bridge.frames()} pictures; ${JSON.stringify(bridge.reports)}`,
  });
  const tookSec = (performance.now() - startedMs) / 1000;
  assert.ok(tookSec > 3, `${tookSec} s for the last 4`);
  assert.equal(bridge.last()?.status, 'ACTIVE');
});

/** Starts ffmpeg as an SRT listener that sends for the given seconds after a caller connects. */
function listenSrt(t: TestContext, port: number, seconds: number): void {
  const child = spawn('ffmpeg', srtArgs(port, seconds), { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
}

function srtArgs(port: number, seconds: number): string[] {
  return [
    ...['-v', 'error', '-nostdin', '-re', '-f', 'lavfi', '-i', `testsrc2=s=320x180:r=${FPS}`],
    ...['-re', '-f', 'lavfi', '-i', 'sine=f=440:r=48000', '-t', String(seconds)],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', String(FPS), '-b:v', '300k', '-c:a', 'aac', '-muxdelay', '0', '-flush_packets', '1'],
    ...['-f', 'mpegts', `srt://127.0.0.1:${port}?mode=listener&transtype=live`],
  ];
}

test('an SRT listener is called and read to its end, also over a lossy connection', async (t) => {
  const [good, bad] = [await freePort(), await freePort()];
  listenSrt(t, good, 5);
  listenSrt(t, bad, 5);
  const lossy = await startLossy(t, bad);
  const [near, far] = await Promise.all([
    startBridge(t, `srt://127.0.0.1:${good}?streamid=a-secret-name`, { autoRestart: true }),
    startBridge(t, `srt://127.0.0.1:${lossy.port}?latency=400`, { autoRestart: true }),
  ]);
  for (const bridge of [near, far]) {
    await bridge.when('ACTIVE');
    await waitFor(() => bridge.reports.some(({ message }) => /ended its broadcast/.test(message ?? '')), {
      timeoutMs: 15_000,
      message: () => JSON.stringify(bridge.reports),
    });
    assert.ok(bridge.frames() >= 4 * FPS, `${bridge.frames()} pictures of ${5 * FPS}`);
    assert.ok(bridge.sounds() > 150, `${bridge.sounds()} sounds`);
    await bridge.stop();
  }
  assert.ok(lossy.lost() > 5, `${lossy.lost()} packets were lost`);
});

/** Starts a UDP relay that drops one in 20 data packets from the target. */
async function startLossy(t: TestContext, to: number): Promise<{ port: number; lost(): number }> {
  const [front, back] = [createSocket('udp4'), createSocket('udp4')];
  let caller = 0;
  let count = 0;
  let lost = 0;
  front.on('message', (packet, { port }) => {
    caller = port;
    back.send(packet, to, '127.0.0.1');
  });
  back.on('message', (packet) => {
    // Control packets pass: the shutdown is sent only once, so the receiver would wait for a lost one.
    const isData = (packet[0] ?? 0) < 0x80;
    if (isData) count += 1;
    if (isData && count % 20 === 0) lost += 1;
    else front.send(packet, caller, '127.0.0.1');
  });
  back.on('error', () => {});
  await new Promise<void>((resolve) => front.bind(0, '127.0.0.1', resolve));
  t.after(() => {
    front.close();
    back.close();
  });
  return { port: front.address().port, lost: () => lost };
}

test('a camera is played over TCP with Digest, over TLS with Basic, and rejects a wrong password', async (t) => {
  const camera = await startCamera(t, trusted);
  const { place, user, password } = camera;
  const url = (word: string) => `rtsp://${user}:${encodeURIComponent(word)}@${place}`;
  const good = await startBridge(t, url(password));
  const wrong = await startBridge(t, url('another'));
  const nobody = await startBridge(t, `rtsp://${place}`);
  const basic = (word: string) => `rtsps://${user}:${encodeURIComponent(word)}@${camera.secured}`;
  const secured = await startBridge(t, basic(password));
  const refused = await startBridge(t, basic('another'));
  await good.when('ACTIVE');
  const before = good.frames();
  const startedMs = performance.now();
  await waitFor(() => good.frames() >= before + 2 * FPS, { timeoutMs: 10_000 });
  assert.ok(performance.now() - startedMs > 1500, 'at its own pace');
  assert.ok(good.sounds() > 50, `${good.sounds()} sounds`);
  const [session] = good.ingest.engine.list();
  assert.deepEqual([session?.video?.width, session?.video?.height], [640, 360]);
  const { avDriftMs } = good.ingest.engine.stats(session?.sessionId ?? '') ?? {};
  assert.ok(Math.abs(avDriftMs ?? 0) < 300, `${avDriftMs} ms apart`);
  assert.match((await wrong.when('FAILED')).message ?? '', /rejected the user name or password/);
  assert.match((await nobody.when('FAILED')).message ?? '', /requires a user name and password/);
  assert.match((await refused.when('FAILED')).message ?? '', /rejected the user name or password/);
  await waitFor(() => secured.frames() >= 2 * FPS && secured.sounds() > 50, {
    timeoutMs: 10_000,
    message: () => JSON.stringify(secured.reports),
  });
  camera.end();
  assert.match((await good.when('FAILED')).message ?? '', /closed the connection/);
});

test('a server that speaks another protocol, hangs up or is unreachable is reported in words', async (t) => {
  const garbage = await startTcp(t, (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const closing = await startTcp(t, (socket) => socket.destroy());
  const unknown = await startTcp(t, () => {}, stranger);
  const cases: [string, RegExp][] = [
    [`rtmps://localhost:${unknown}/live/a`, /certificate/],
    [`rtsps://localhost:${unknown}/a`, /certificate/],
    [`rtmp://127.0.0.1:${garbage}/live/a`, /did not return a valid RTMP response/],
    [
      `rtmp://127.0.0.1:${closing}/live/a`,
      /closed the connection|reset the connection|closed the connection/,
    ],
    ['rtmp://127.0.0.1:1/live/a', /refused the connection/],
    ['rtmp://10.0.0.1/live/a', /private address/],
    [`rtsp://127.0.0.1:${garbage}/a`, /did not return a valid RTSP response|closed/],
    ['rtsp://10.0.0.1/a', /private address/],
    ['srt://10.0.0.1:9000', /private address/],
    ['srt://127.0.0.1:1', /did not respond in time|ECONNREFUSED/],
  ];
  await Promise.all(
    cases.map(async ([url, words]) => {
      const bridge = await startBridge(t, url);
      assert.match((await bridge.when('FAILED')).message ?? '', words, url);
    }),
  );
});
