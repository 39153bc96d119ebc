import { lineReader } from './text.ts';

/** One block of `ffmpeg -progress`. */
export interface FfmpegProgress {
  /** Media time written, in milliseconds; null while ffmpeg reports N/A. */
  outTimeMs: number | null;
  totalBytes: number | null;
  frame: number | null;
  /** Media seconds per wall second; null at the start. */
  speed: number | null;
  /** The last block of a run. */
  done: boolean;
}

const PROGRESS_KEYS = new Set(['out_time_us', 'total_size', 'frame', 'speed', 'progress']);

/**
 * Parses the key=value blocks of `-progress pipe:1`. Feed it text as it comes; each finished block is
 * handed to `onBlock`. `out_time_us` is used because `out_time_ms` holds microseconds too
 * (docs/decisions/transcoding.md#progress).
 */
export function createProgressParser(onBlock: (progress: FfmpegProgress) => void): (text: string) => void {
  let block = new Map<string, string>();
  return lineReader((line) => {
    const at = line.indexOf('=');
    if (at < 0) return;
    const name = line.slice(0, at).trim();
    const value = line.slice(at + 1).trim();
    if (PROGRESS_KEYS.has(name)) block.set(name, value);
    if (name !== 'progress') return;
    onBlock(readBlock(block));
    block = new Map();
  });
}

function readBlock(block: Map<string, string>): FfmpegProgress {
  const outTimeUs = numberOf(block.get('out_time_us'));
  return {
    outTimeMs: outTimeUs === null ? null : outTimeUs / 1000,
    totalBytes: numberOf(block.get('total_size')),
    frame: numberOf(block.get('frame')),
    speed: numberOf(block.get('speed')?.replace(/x$/, '')),
    done: block.get('progress') === 'end',
  };
}

function numberOf(text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
