import { join } from 'node:path';
import { MAX_DURATION_SEC } from '../../kernel/plans.ts';
import { isDiskError } from '../../platform/disk.ts';
import { inputGuard, probeGuard } from '../ffmpeg/guard.ts';
import { UnsafeOutputError } from '../ffmpeg/output.ts';
import { lineReader } from '../ffmpeg/text.ts';
import { runTool, type Tools } from './run.ts';

const GB = 2 ** 30;
/** Time budget of the scan: a file on a slow disk is judged by the part read in this time. */
const SCAN_MS = 15_000;
const SCAN_LIMITS = { memoryBytes: 4 * GB, cpuSec: 60, fileBytes: 0, isUrgent: true };
const COPY_LIMITS = { memoryBytes: 4 * GB, cpuSec: MAX_DURATION_SEC, fileBytes: 1024 * GB, isUrgent: true };
/** Step that ffmpeg treats as a new clock, as it does one back by more than a second. */
const MAX_STEP_SEC = 10;
const MAX_BACK_SEC = 0.1;
const COPY = 'one-clock.ts';

interface ClockRun {
  path: string;
  /** Directory exclusive to this run. */
  dir: string;
  signal: AbortSignal;
}

/**
 * Reports whether the timestamps of a file jump, as in concatenated transport streams. ffmpeg rewrites such a
 * file to one clock while reading, but only from its beginning, so that durations, positions and parts of it
 * would not agree.
 */
export async function hasJumpingClock(tools: Tools, { path, dir, signal }: ClockRun): Promise<boolean> {
  const enough = new AbortController();
  const tracks = new Map<string, { nextSec: number; lastSec: number }>();
  let jumps = false;
  const timer = setTimeout(() => enough.abort(), SCAN_MS);
  try {
    await runTool(tools, {
      program: 'ffprobe',
      cwd: dir,
      args: [
        ...['-v', 'error', '-of', 'compact=p=0:nk=1', '-show_entries'],
        ...['packet=codec_type,stream_index,dts_time,duration_time', ...probeGuard(path)],
      ],
      limits: SCAN_LIMITS,
      looks: true,
      signal,
      enough: enough.signal,
      onOutput: lineReader((line) => {
        const [kind, stream = '', dts = '', duration = ''] = line.split('|');
        const sec = Number.parseFloat(dts);
        if ((kind !== 'video' && kind !== 'audio') || Number.isNaN(sec)) return;
        const track = tracks.get(stream) ?? { nextSec: sec, lastSec: sec };
        const isAhead = Math.abs(sec - track.nextSec) > MAX_STEP_SEC;
        if (isAhead || sec + MAX_BACK_SEC < track.lastSec) jumps = true;
        if (jumps) enough.abort();
        track.nextSec = sec + (Number.parseFloat(duration) || 0);
        track.lastSec = sec;
        tracks.set(stream, track);
      }),
    });
  } catch (error) {
    signal.throwIfAborted();
    // The probe reports the fault of the file.
    if (error instanceof UnsafeOutputError || isDiskError(error)) throw error;
  } finally {
    clearTimeout(timer);
  }
  return jumps;
}

/**
 * Copies the tracks of a file onto one clock.
 *
 * @returns the path of the copy; that of the file itself when this fails.
 */
export async function putOnOneClock(tools: Tools, { path, dir, signal }: ClockRun): Promise<string> {
  try {
    await runTool(tools, {
      program: 'ffmpeg',
      cwd: dir,
      args: [
        ...['-nostdin', '-v', 'error', '-y', ...inputGuard(path), '-map', '0', '-dn', '-c', 'copy'],
        ...['-copy_unknown', '-f', 'mpegts', COPY],
      ],
      limits: COPY_LIMITS,
      signal,
      // Progress reports enable the detection of a stalled run.
      onProgress: () => {},
    });
    return join(dir, COPY);
  } catch (error) {
    if (signal.aborted || isDiskError(error) || error instanceof UnsafeOutputError) throw error;
    tools.log.warn({ err: error }, 'a file whose timestamps jump could not be copied');
    return path;
  }
}
