/**
 * The platform with nothing to do, on its embedded database: the memory of its processes, their processor time, and how
 * long a warm start takes to the first answer. npm and the bootstrap, which start it, are not in these figures.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPlatform } from '../test/harness/platform.ts';
import { proportionalMegabytes } from './support/memory.ts';
import { processorSeconds } from './support/processes.ts';
import { median, report } from './support/report.ts';

const STARTS = 3;
/** Connections and buffers of the start are given back by then. */
const SETTLE_MS = 10_000;
const IDLE_SEC = 10;

const folder = await mkdtemp(join(tmpdir(), 'marquee-bench-'));
const dataDir = join(folder, 'data');
try {
  await (await startPlatform({ dataDir })).stop();
  const startMs: number[] = [];
  for (let n = 0; n < STARTS; n++) {
    const startedAt = performance.now();
    const platform = await startPlatform({ dataDir, isFirstStart: true });
    startMs.push(performance.now() - startedAt);
    if (n === STARTS - 1) await atRest(platform.process.pid ?? 0);
    await platform.stop();
  }
  const unit = 'ms from a warm start to the first 200';
  report({ name: 'start', value: median(startMs), unit, target: '<= 1500' });
} finally {
  await rm(folder, { recursive: true });
}

async function atRest(pid: number): Promise<void> {
  await sleep(SETTLE_MS);
  const before = processorSeconds(pid);
  await sleep(IDLE_SEC * 1000);
  const used = ((processorSeconds(pid) - before) / IDLE_SEC) * 100;
  for (const { name, megabytes } of proportionalMegabytes(pid)) {
    report({ name: `at rest, ${name}`, value: megabytes, unit: 'MB proportional set size', target: '>= 0' });
  }
  const value = proportionalMegabytes(pid).reduce((sum, { megabytes }) => sum + megabytes, 0);
  report({ name: 'at rest, all processes', value, unit: 'MB proportional set size', target: '<= 300' });
  report({ name: 'at rest, processor', value: used, unit: '% of a core', target: '<= 5' });
}
