import type { VideoCodec } from '../../kernel/video-codecs.ts';
import type { RungPlan } from '../contract/index.ts';

/**
 * Processor seconds of one core for a million pixels, decoding and scaling included
 * (docs/decisions/transcoding.md#hevc-and-av1).
 */
const CPU_SEC_PER_MEGAPIXEL: Readonly<Record<VideoCodec, number>> = { H264: 0.012, HEVC: 0.045, AV1: 0.05 };
/** Of one codec of one video. */
const MOST_CPU_SEC = 8 * 3600;

/** Of one core, for a rung of so long a video. */
export function cpuSecondsOf({ codec, width, height, frameRate }: RungPlan, durationSec: number): number {
  return ((width * height * frameRate) / 1e6) * durationSec * CPU_SEC_PER_MEGAPIXEL[codec];
}

/** The rungs of one codec, highest first: all, or none where they would take the machine for too long. */
export function affordable(rungs: readonly RungPlan[], durationSec: number): RungPlan[] {
  const sum = rungs.reduce((sec, rung) => sec + cpuSecondsOf(rung, durationSec), 0);
  return sum <= MOST_CPU_SEC ? [...rungs] : [];
}
