import type { RungPlan, SourceInfo } from '../contract/index.ts';
import type { ProgramLimits } from '../ffmpeg/guard.ts';

const GB = 2 ** 30;
const LARGE_PIXELS = 4096 * 2304;
/**
 * CPU limit per second of five million pixels at 30 fps; a full ladder of 1080p30 takes about one CPU second.
 */
const CPU_SEC_PER_MEGAPIXEL_SEC = 20;
const BASE_CPU_SEC = 600;
const SEGMENT_BYTES = 4 * GB;
const CHUNK_BYTES = 64 * GB;

/**
 * Returns limits far above the needs of legitimate files, against files crafted to exhaust resources.
 *
 * @param rungs encoded rungs; without any, the run is a short one.
 */
export function encodeLimits(source: SourceInfo, rungs: readonly RungPlan[]): ProgramLimits {
  const pictures = [source.video, ...rungs];
  const load = pictures.reduce((sum, { width, height, frameRate }) => {
    return sum + ((width * height) / 1e6) * Math.max(1, frameRate / 30);
  }, 0);
  const isLarge = source.video.width * source.video.height > LARGE_PIXELS;
  return {
    memoryBytes: (isLarge ? 24 : 8) * GB,
    cpuSec: BASE_CPU_SEC + source.durationSec * CPU_SEC_PER_MEGAPIXEL_SEC * Math.max(1, load),
    fileBytes: SEGMENT_BYTES,
    isUrgent: rungs.length === 0,
  };
}

/** Returns the limits of a split, whose chunks are larger than segments. */
export function splitLimits(source: SourceInfo): ProgramLimits {
  return { ...encodeLimits(source, []), fileBytes: CHUNK_BYTES };
}
