import { isDiskError } from '../../platform/disk.ts';
import type { RungPlan, SourceInfo } from '../contract/index.ts';
import { type Hardware, type HardwareUse, taskOf } from '../ffmpeg/hardware.ts';
import type { HardwarePool } from '../ffmpeg/hardware-pool.ts';
import { UnsafeOutputError } from '../ffmpeg/output.ts';
import { is10Bit } from './encoders.ts';
import type { Tools } from './run.ts';

/**
 * Minimum lines for hardware: software encodes smaller rungs at almost no cost, and not all cards support
 * them.
 */
const LEAST_LINES = 240;
/** Maximum side in pixels that all H.264 hardware encoders support. */
const MOST_H264_SIDE = 4096;

interface HardwareRun {
  source: SourceInfo;
  rungs: readonly RungPlan[];
  signal: AbortSignal;
  /** Deletes the output of a failed hardware run. */
  clear(): Promise<void>;
}

/**
 * Runs `work` with the hardware if it has a free session; when that fails, runs it in software before
 * reporting an error.
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

/** Selects the rungs for hardware, the largest first: they cost the CPU most. */
function choose(pool: HardwarePool, { source, rungs }: HardwareRun): string[] {
  const fit = rungs
    .filter((rung) => !rung.isCopy && fits(pool.hardware, source, rung))
    .map(({ name }) => name);
  return fit.slice(0, pool.take(fit.length));
}

function fits({ kind, can }: Hardware, source: SourceInfo, rung: RungPlan): boolean {
  const { codec, width, height } = rung;
  if (!can.includes(taskOf({ codec, is10Bit: is10Bit(source, rung) }))) return false;
  // Only VAAPI preserves the mastering display metadata.
  if (codec !== 'H264' && source.video.hdr10 && kind !== 'vaapi') return false;
  if (codec === 'H264' && Math.max(width, height) > MOST_H264_SIDE) return false;
  return Math.min(width, height) >= LEAST_LINES;
}
