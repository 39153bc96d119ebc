import { readFile } from 'node:fs/promises';
import type { Guard } from '../../src/media/ffmpeg/guard.ts';

export interface Cost {
  wallSec: number;
  /** User and system time of all ended child programs, except those in a separate sandbox. */
  cpuSec: number;
}

/** Measures the cost of the programs that `work` starts. */
export async function cost(work: () => Promise<unknown>): Promise<Cost> {
  const cpu = await childCpuSec();
  const startedMs = performance.now();
  await work();
  return { wallSec: (performance.now() - startedMs) / 1000, cpuSec: (await childCpuSec()) - cpu };
}

async function childCpuSec(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // cutime and cstime, in hundredths.
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/**
 * Starts programs without a sandbox, because the time of sandboxed ones is not counted as that of our
 * children.
 */
export async function unguarded(): Promise<Guard> {
  return {
    weakness: null,
    start: async (program) => ({ command: [program], isSandboxed: false }),
  };
}
