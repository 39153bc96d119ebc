import type { VideoCodec } from '../../kernel/video-codecs.ts';
import type { RungPlan } from '../contract/index.ts';

/**
 * CPU seconds of one core per million pixels, including decoding and scaling
 * (docs/decisions/transcoding.md#hevc-and-av1).
 */
const CPU_SEC_PER_MEGAPIXEL: Readonly<Record<VideoCodec, number>> = { H264: 0.012, HEVC: 0.045, AV1: 0.05 };
/** Maximum CPU time of one codec of one video. */
const MAX_CPU_SEC = 8 * 3600;

/** Estimates the CPU seconds, on one core, of a rung for a video of this duration. */
export function cpuSecondsOf({ codec, width, height, frameRate }: RungPlan, durationSec: number): number {
  return ((width * height * frameRate) / 1e6) * durationSec * CPU_SEC_PER_MEGAPIXEL[codec];
}

/** Returns the rungs of one codec, highest first: all, or none when they would take too long. */
export function affordable(rungs: readonly RungPlan[], durationSec: number): RungPlan[] {
  const sum = rungs.reduce((sec, rung) => sec + cpuSecondsOf(rung, durationSec), 0);
  return sum <= MAX_CPU_SEC ? [...rungs] : [];
}
