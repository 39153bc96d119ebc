/**
 * Measures the latency of the newest part of a broadcast's source under full CPU load: `node
 * bench/noisy-neighbors.ts`, a minute. Six CPU-bound processes run for 30 seconds; the encoder has a higher
 * priority because it is not under test.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/kernel/clock.ts';
import { createPartner } from '../test/harness/partner.ts';
import { startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startCamera } from './support/camera.ts';
import { median, report } from './support/report.ts';

const HOGS = 6;
const QUIET_SEC = 15;
const HOGS_SEC = 30;
const ENCODER_PRIORITY = -15;
const LOOP = 'while :; do :; done';

/** Milliseconds from the end of the newest part that a playlist names until now. */
function behindMs(playlist: string): number | null {
  const [, rest] = /[\s\S]*#EXT-X-PROGRAM-DATE-TIME:([\s\S]*)$/.exec(playlist) ?? [];
  if (rest === undefined) return null;
  const [date = ''] = rest.split('\n');
  const seconds = rest.includes('#EXTINF:')
    ? Number.parseFloat(rest.split('#EXTINF:')[1] ?? '0')
    : [...rest.matchAll(/#EXT-X-PART:DURATION=([\d.]+)/g)].reduce((sum, [, part]) => sum + Number(part), 0);
  return systemClock.ms() - (Date.parse(date) + seconds * 1000);
}

async function sample(address: string, seconds: number): Promise<number[]> {
  const found: number[] = [];
  for (const endMs = performance.now() + seconds * 1000; performance.now() < endMs; await sleep(100)) {
    const behind = behindMs(await (await fetch(address)).text());
    if (behind !== null) found.push(behind);
  }
  return found.toSorted((a, b) => a - b);
}

const platform = await startPlatform();
try {
  const partner = createPartner(platform);
  const stream = await partner.createStream({ latencyMode: 'LOW' });
  await partner.start(stream.id);
  const camera = startCamera(`rtmp://127.0.0.1:${platform.rtmpPort}/live/${stream.streamKey}`, 2);
  try {
    setPriority(ENCODER_PRIORITY);
    const address = `${platform.url}/live/${stream.id}/src/index.m3u8`;
    await waitFor(async () => behindMs(await (await fetch(address)).text()) !== null, { timeoutMs: 30_000 });
    // One for each thread, by Linux.
    for (const task of readdirSync(`/proc/${camera.pid}/task`)) setPriority(Number(task), ENCODER_PRIORITY);
    const quiet = await sample(address, QUIET_SEC);
    const hogs = Array.from({ length: HOGS }, () =>
      spawn('nice', ['-n', String(-ENCODER_PRIORITY), 'timeout', String(HOGS_SEC), 'sh', '-c', LOOP]),
    );
    const busy = await sample(address, HOGS_SEC);
    for (const hog of hogs) hog.kill('SIGTERM');
    const before = median(quiet);
    report({
      name: 'newest part behind the camera, quiet, p50',
      value: before,
      unit: 'ms',
      target: '<= 1000',
    });
    const p95 = busy[Math.floor(busy.length * 0.95)] ?? Number.NaN;
    report({
      name: 'how much more, beside six hogs, p95',
      value: p95 - before,
      unit: 'ms',
      target: '<= 1000',
    });
    const most = busy.at(-1) ?? Number.NaN;
    report({
      name: 'how much more, beside six hogs, at most',
      value: most - before,
      unit: 'ms',
      target: '<= 1000',
    });
  } finally {
    camera.stop();
    await partner.stop(stream.id);
  }
} finally {
  await platform.stop();
}
