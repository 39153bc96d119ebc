/**
 * Measures how long a clip of the last seconds of a broadcast takes: `node bench/clips.ts [seconds…]` (10 and
 * 30 by default; two minutes). The encoder runs on the same machine, and uses a part of it.
 */
import { systemClock } from '../src/kernel/clock.ts';
import { createPartner } from '../test/harness/partner.ts';
import { startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';
import { median, report } from './support/report.ts';

const ROUNDS = 3;
const given = process.argv.slice(2).map(Number).filter(Boolean);
const LENGTHS = given.length > 0 ? given : [10, 30];
const PATIENCE_MS = 120_000;

const platform = await startPlatform();
const partner = createPartner(platform);
const stream = await partner.createStream({ dvrWindowSec: 300 });
await partner.start(stream.id);
const camera = startPublisher({
  url: `rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`,
  ...{ width: 1280, height: 720, fps: 30, gopSec: 2, bitrateKbps: 2500 },
});

/** Returns the elapsed seconds of the broadcast. */
async function lastsSec(): Promise<number> {
  const { startedAt, hasSignal } = await partner.stream(stream.id);
  return hasSignal && startedAt !== null ? (systemClock.ms() - Date.parse(startedAt)) / 1000 : 0;
}

/**
 * Measures the milliseconds from the request until a part of the clip is playable, and until it is complete.
 */
async function clip(lengthSec: number): Promise<{ playableMs: number; readyMs: number }> {
  const endSec = Math.floor((await lastsSec()) * 10) / 10;
  const startedMs = performance.now();
  const body = { startSec: endSec - lengthSec, endSec, title: 'The last of it' };
  const { data } = await partner.call('POST', `/streams/${stream.id}/clips`, body);
  const id = String(Object(data).id);
  const options = { timeoutMs: PATIENCE_MS, intervalMs: 50, message: `a clip of ${lengthSec} s` };
  const plays = async () => (await fetch(`${platform.url}/v/${id}/master.m3u8`)).ok;
  await waitFor(plays, options);
  const playableMs = performance.now() - startedMs;
  await partner.videoWhen(id, ({ status }) => status === 'READY', PATIENCE_MS);
  return { playableMs, readyMs: performance.now() - startedMs };
}

try {
  const longest = Math.max(...LENGTHS);
  await waitFor(async () => (await lastsSec()) > longest + 5, {
    timeoutMs: (longest + 30) * 1000,
    intervalMs: 500,
    message: 'enough of a broadcast',
  });
  for (const lengthSec of LENGTHS) {
    const found: { playableMs: number; readyMs: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) found.push(await clip(lengthSec));
    const name = `clip of the last ${lengthSec} s`;
    const [playable, ready] = [found.map((one) => one.playableMs), found.map((one) => one.readyMs)];
    report({ name: `${name}: playable`, value: median(playable), unit: 'ms', target: '<= 5000' });
    report({ name: `${name}: READY`, value: median(ready), unit: 'ms', target: '<= 30000' });
  }
} finally {
  camera.kill('SIGKILL');
  await platform.stop();
}
