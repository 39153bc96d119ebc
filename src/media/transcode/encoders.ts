import type { VideoCodec } from '../../kernel/video-codecs.ts';
import type { RungPlan, SourceInfo, VideoRange } from '../contract/index.ts';
import { ENCODERS } from '../ffmpeg/codecs.ts';

/** `yuv420p10le` and its like; grey, RGB and packed formats as well. */
const DEEP =
  /p(?:9|10|12|14|16)(?:le|be)?$|p0(?:10|12|16)|(?:gray|rgba?|bgra?|ya|x2rgb)(?:9|10|12|14|16|48|64)|y210|v210/;

/** Of x265. */
const MOST_FRAME_THREADS = 16;

/** What the encoder is given: 8 bits for H.264, which all decoders take; the others keep 10. */
export function pixelFormat({ video }: SourceInfo, { codec }: Pick<RungPlan, 'codec'>): string {
  const isDeep = video.range !== 'SDR' || DEEP.test(video.pixelFormat);
  return codec !== 'H264' && isDeep ? 'yuv420p10le' : 'yuv420p';
}

/** H.264 is tone-mapped. */
export function rangeOf({ video }: SourceInfo, { codec }: Pick<RungPlan, 'codec'>): VideoRange {
  return codec === 'H264' ? 'SDR' : video.range;
}

/** Constant quality below a ceiling: joints of chunks do not show, and easy pictures cost little. */
export function encoderArgs(rung: RungPlan, threads: number): string[] {
  return ['-c:v', ENCODERS[rung.codec], ...ARGS[rung.codec](rung, threads)];
}

type Args = (rung: RungPlan, threads: number) => string[];

/** Why these, and what they cost: docs/decisions/transcoding.md#hevc-and-av1. */
const ARGS: Readonly<Record<VideoCodec, Args>> = {
  H264: (rung, threads) => [
    ...['-preset', 'veryfast', '-profile:v', 'high', '-crf', '23', ...ceiling(rung)],
    ...['-threads', String(threads), '-sc_threshold', '0'],
  ],
  HEVC: (rung, threads) => [
    ...['-preset', 'veryfast', '-crf', '25', ...ceiling(rung), '-forced-idr', '1', '-tag:v', 'hvc1'],
    ...['-x265-params', `log-level=error:open-gop=0:scenecut=0:${hevcThreads(threads)}`],
  ],
  AV1: (rung, threads) => [
    ...['-preset', '8', '-crf', '35', ...ceiling(rung)],
    ...['-svtav1-params', `lp=${threads}`],
  ],
};

/** Without its pool, whose threads wake each other so often that a busy machine slows it down thirtyfold. */
function hevcThreads(threads: number): string {
  return `pools=none:wpp=0:frame-threads=${Math.min(threads, MOST_FRAME_THREADS)}`;
}

function ceiling({ bitrate }: RungPlan): string[] {
  return ['-maxrate', String(bitrate), '-bufsize', String(bitrate * 2)];
}
