import { isDiskError } from '../../platform/disk.ts';
import type { RungPlan, SourceInfo } from '../contract/index.ts';
import { type Hardware, type HardwareUse, taskOf } from '../ffmpeg/hardware.ts';
import type { HardwarePool } from '../ffmpeg/hardware-pool.ts';
import { UnsafeOutputError } from '../ffmpeg/output.ts';
import { is10Bit } from './encoders.ts';
import type { Tools } from './run.ts';

/** Lines below which it is not asked: the software makes them for next to nothing, and not all cards take them. */
const LEAST_LINES = 240;
/** Pixels of a side: what all that encode H.264 take. */
const MOST_H264_SIDE = 4096;

interface HardwareRun {
  source: SourceInfo;
  rungs: readonly RungPlan[];
  signal: AbortSignal;
  /** Takes away what a run has left that failed. */
  clear(): Promise<void>;
}

/**
 * Does `work` with the hardware where there is one, and its places are free; once more in software, before anybody hears of it,
 * when that fails.
 */
export async function withHardware<T>(
  tools: Pick<Tools, 'hardware' | 'log'>,
  run: HardwareRun,
  work: (use: HardwareUse | null) => Promise<T>,
): Promise<T> {
  const pool = (await tools.hardware?.()) ?? null;
  const names = pool === null ? [] : choose(pool, run);
  if (pool === null || names.length === 0) return work(null);
  const { kind } = pool.hardware;
  try {
    return await work({ hardware: pool.hardware, names: new Set(names) });
  } catch (error) {
    if (run.signal.aborted || isDiskError(error) || error instanceof UnsafeOutputError) throw error;
    tools.log.warn({ err: error, encoder: kind, rungs: names }, 'a hardware encode failed: using software');
  } finally {
    pool.give(names.length);
  }
  await run.clear();
  const made = await work(null);
  pool.rest();
  return made;
}

/** The largest first: they cost the processor most. */
function choose(pool: HardwarePool, { source, rungs }: HardwareRun): string[] {
  const fit = rungs
    .filter((rung) => !rung.isCopy && fits(pool.hardware, source, rung))
    .map(({ name }) => name);
  return fit.slice(0, pool.take(fit.length));
}

function fits({ kind, can }: Hardware, source: SourceInfo, rung: RungPlan): boolean {
  const { codec, width, height } = rung;
  if (!can.includes(taskOf({ codec, is10Bit: is10Bit(source, rung) }))) return false;
  // VAAPI alone carries the data of the mastering display over.
  if (codec !== 'H264' && source.video.hdr10 && kind !== 'vaapi') return false;
  if (codec === 'H264' && Math.max(width, height) > MOST_H264_SIDE) return false;
  return Math.min(width, height) >= LEAST_LINES;
}
