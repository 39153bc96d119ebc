import { MAX_UPLOAD_FPS } from '../../kernel/plans.ts';
import type { VideoCodec } from '../../kernel/video-codecs.ts';
import type { LadderPlan, RungPlan, SourceInfo } from '../contract/index.ts';
import { planAudio } from './audio.ts';
import { affordable } from './cost.ts';
import { REDUCED_RATES, rateDivisor } from './frame-rate.ts';

/** Lines of the shorter side (docs/decisions/transcoding.md#the-ladder). */
const HEIGHTS = [4320, 2160, 1440, 1080, 720, 480, 360, 240] as const;
/** Maximum ratio to the next higher rung; a rung nearly as large is useless. */
const TOO_NEAR = 0.95;

/** Target at up to 30 frames per second, by thousands of pixels, smallest first. */
const TARGETS = [
  [1, 30_000],
  [102, 400_000], // 426 by 240
  [230, 800_000],
  [410, 1_400_000],
  [922, 2_800_000],
  [2074, 5_000_000],
  [3686, 9_000_000],
  [8294, 16_000_000],
  [33_178, 50_000_000],
] as const;
/** Exponent for higher frame rates: closer frames differ less, so twice as many cost half as much again. */
const RATE_EXPONENT = 0.6;
const PLAIN_RATE = 30;

/** Bitrates relative to H.264, for about the same quality. */
const SHARES: Readonly<Record<VideoCodec, number>> = { H264: 1, HEVC: 0.7, AV1: 0.6 };
/** Minimum lines for another codec, below which it saves almost nothing. */
const LEAST_FURTHER = 240;

/**
 * Plans the rungs of a source, limited by its size and by `maxHeight` lines of the shorter side. The top one
 * has the source's own size when that is lower, or is a copy of the source when eligible.
 */
export function planLadder(
  source: SourceInfo,
  maxHeight: number,
  further: readonly VideoCodec[] = [],
): LadderPlan {
  const { video } = source;
  const shorter = Math.min(video.width, video.height);
  const top = Math.min(Math.max(2, Math.floor(shorter / 2) * 2), maxHeight);
  const lower = HEIGHTS.filter((lines) => lines < top);
  const lines = [top, ...lower.filter((height) => height / top < TOO_NEAR)];
  const isCopy = source.copyRefusal === null && shorter <= maxHeight;
  const rungs = lines.map((height, index) => rung(video, height, index, isCopy && index === 0));
  return {
    rungs,
    further: further.flatMap((codec) => affordable(furtherRungs(video, lines, codec), source.durationSec)),
    audio: planAudio(source.audio),
  };
}

function rung(video: SourceInfo['video'], lines: number, index: number, isCopy: boolean): RungPlan {
  const scale = lines / Math.min(video.width, video.height);
  const size = isCopy
    ? { width: video.width, height: video.height }
    : { width: even(video.width * scale), height: even(video.height * scale) };
  const frameRate = isCopy
    ? video.frameRate
    : video.frameRate / rateDivisor(video.frameRate, rateCeiling(lines, index));
  const bitrate = isCopy ? (video.bitrate ?? 0) : targetBitrate(size, frameRate);
  return { name: `${lines}p`, codec: 'H264', ...size, frameRate, bitrate, isCopy };
}

/** Returns the rungs in another codec: a player stays with the codec that it started with. */
function furtherRungs(video: SourceInfo['video'], lines: readonly number[], codec: VideoCodec): RungPlan[] {
  return lines.flatMap((height, index) => {
    const plain = rung(video, height, index, false);
    if (Math.min(plain.width, plain.height) < LEAST_FURTHER) return [];
    const bitrate = Math.round(plain.bitrate * SHARES[codec]);
    return [{ ...plain, name: `${plain.name}-${codec.toLowerCase()}`, codec, bitrate }];
  });
}

/**
 * Returns the frame rate limit: the two best rungs keep the source's rate; the others are for low bandwidths.
 */
function rateCeiling(lines: number, index: number): number {
  if (index === 0) return MAX_UPLOAD_FPS;
  if (lines <= 360) return REDUCED_RATES.small;
  return index === 1 ? MAX_UPLOAD_FPS : REDUCED_RATES.medium;
}

/** Returns the target bitrate of a resolution in bits per second, regardless of its aspect ratio. */
export function targetBitrate(size: { width: number; height: number }, frameRate: number): number {
  const kilopixels = Math.max(1, (size.width * size.height) / 1000);
  const below = TARGETS.findLastIndex(([pixels]) => pixels <= kilopixels);
  const at = Math.min(below, TARGETS.length - 2);
  const [x0, y0] = TARGETS[at] ?? TARGETS[0];
  const [x1, y1] = TARGETS[at + 1] ?? TARGETS[1];
  const share = Math.log(kilopixels / x0) / Math.log(x1 / x0);
  const plain = y0 * (y1 / y0) ** share;
  return Math.round(plain * Math.max(1, frameRate / PLAIN_RATE) ** RATE_EXPONENT);
}

function even(value: number): number {
  return Math.max(2, Math.round(value / 2) * 2);
}
