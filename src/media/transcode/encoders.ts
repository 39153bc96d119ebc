import type { VideoCodec } from '../../kernel/video-codecs.ts';
import type { RungPlan, SourceInfo, VideoRange } from '../contract/index.ts';
import { ENCODERS } from '../ffmpeg/codecs.ts';
import { fileEncoderArgs, type HardwareUse } from '../ffmpeg/hardware.ts';
import { av1Hdr10, hevcHdr10 } from './hdr10.ts';
import { h264Threads } from './threads.ts';

/** `yuv420p10le` and its like; grey, RGB and packed formats as well. */
const DEEP =
  /p(?:9|10|12|14|16)(?:le|be)?$|p0(?:10|12|16)|(?:gray|rgba?|bgra?|ya|x2rgb)(?:9|10|12|14|16|48|64)|y210|v210/;

/** Of x265. */
const MOST_FRAME_THREADS = 16;

/** 8 bits for H.264, which all decoders take; the others keep 10. */
export function is10Bit({ video }: SourceInfo, { codec }: Pick<RungPlan, 'codec'>): boolean {
  return codec !== 'H264' && (video.range !== 'SDR' || DEEP.test(video.pixelFormat));
}

/** What the encoder is given. */
export function pixelFormat(source: SourceInfo, rung: Pick<RungPlan, 'codec'>): string {
  return is10Bit(source, rung) ? 'yuv420p10le' : 'yuv420p';
}

/** H.264 is tone-mapped. */
export function rangeOf({ video }: SourceInfo, { codec }: Pick<RungPlan, 'codec'>): VideoRange {
  return codec === 'H264' ? 'SDR' : video.range;
}

export interface EncoderInput {
  source: SourceInfo;
  /** Cores that the run is to keep busy. */
  threads: number;
  /** Makes those of the rungs that it names; the software makes the others. */
  hardware?: HardwareUse | null;
}

/** Constant quality below a ceiling: joints of chunks do not show, and easy pictures cost little. */
export function encoderArgs(rung: RungPlan, input: EncoderInput): string[] {
  const { source, hardware } = input;
  if (hardware?.names.has(rung.name)) {
    const encode = { codec: rung.codec, ceiling: rung.bitrate, is10Bit: is10Bit(source, rung) };
    return fileEncoderArgs(hardware.hardware.kind, encode);
  }
  return ['-c:v', ENCODERS[rung.codec], ...ARGS[rung.codec](rung, input)];
}

type Args = (rung: RungPlan, input: EncoderInput) => string[];

/** Why these, and what they cost: docs/decisions/transcoding.md#hevc-and-av1. */
const ARGS: Readonly<Record<VideoCodec, Args>> = {
  H264: (rung, { threads }) => [
    ...['-preset', 'veryfast', '-profile:v', 'high', '-crf', '23', ...ceiling(rung)],
    ...['-threads', String(h264Threads(threads, rung.height)), '-sc_threshold', '0'],
  ],
  HEVC: (rung, { threads, source }) => {
    const params = [
      'log-level=error',
      'open-gop=0',
      'scenecut=0',
      hevcThreads(threads),
      ...hevcHdr10(source),
    ];
    return [
      ...['-preset', 'veryfast', '-crf', '25', ...ceiling(rung), '-forced-idr', '1', '-tag:v', 'hvc1'],
      ...['-x265-params', params.join(':')],
    ];
  },
  AV1: (rung, { threads, source }) => [
    ...['-preset', '8', '-crf', '35', ...ceiling(rung)],
    ...['-svtav1-params', [`lp=${threads}`, ...av1Hdr10(source)].join(':')],
  ],
};

/** Without its pool, whose threads wake each other so often that a busy machine slows it down thirtyfold. */
function hevcThreads(threads: number): string {
  return `pools=none:wpp=0:frame-threads=${Math.min(threads, MOST_FRAME_THREADS)}`;
}

function ceiling({ bitrate }: RungPlan): string[] {
  return ['-maxrate', String(bitrate), '-bufsize', String(bitrate * 2)];
}
