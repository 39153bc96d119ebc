import type { VideoCodec } from '../../kernel/video-codecs.ts';
import type { RungPlan, SourceInfo, VideoRange } from '../contract/index.ts';
import { ENCODERS } from '../ffmpeg/codecs.ts';
import { fileEncoderArgs, type HardwareUse } from '../ffmpeg/hardware.ts';
import { av1Hdr10, hevcHdr10 } from './hdr10.ts';
import { h264Threads } from './threads.ts';

/** Pixel formats such as `yuv420p10le`, including grayscale, RGB and packed formats. */
const DEEP =
  /p(?:9|10|12|14|16)(?:le|be)?$|p0(?:10|12|16)|(?:gray|rgba?|bgra?|ya|x2rgb)(?:9|10|12|14|16|48|64)|y210|v210/;

/** Maximum frame threads of x265. */
const MOST_FRAME_THREADS = 16;

/** Reports whether a rung is encoded with 10 bits: never H.264, which all decoders support with 8 bits. */
export function is10Bit({ video }: SourceInfo, { codec }: Pick<RungPlan, 'codec'>): boolean {
  return codec !== 'H264' && (video.range !== 'SDR' || DEEP.test(video.pixelFormat));
}

/** Returns the pixel format of the encoder's input. */
export function pixelFormat(source: SourceInfo, rung: Pick<RungPlan, 'codec'>): string {
  return is10Bit(source, rung) ? 'yuv420p10le' : 'yuv420p';
}

/** Returns the video range of a rung: H.264 is tone-mapped. */
export function rangeOf({ video }: SourceInfo, { codec }: Pick<RungPlan, 'codec'>): VideoRange {
  return codec === 'H264' ? 'SDR' : video.range;
}

export interface EncoderInput {
  source: SourceInfo;
  /** Number of cores for the run. */
  threads: number;
  /** Hardware for the rungs that it names; the software encodes the others. */
  hardware?: HardwareUse | null;
}

/**
 * Returns encoder arguments for constant quality below a bitrate ceiling: chunk boundaries are invisible, and
 * simple content costs little.
 */
export function encoderArgs(rung: RungPlan, input: EncoderInput): string[] {
  const { source, hardware } = input;
  if (hardware?.names.has(rung.name)) {
    const encode = { codec: rung.codec, ceiling: rung.bitrate, is10Bit: is10Bit(source, rung) };
    return fileEncoderArgs(hardware.hardware.kind, encode);
  }
  return ['-c:v', ENCODERS[rung.codec], ...ARGS[rung.codec](rung, input)];
}

type Args = (rung: RungPlan, input: EncoderInput) => string[];

/** Encoder arguments; docs/decisions/transcoding.md#hevc-and-av1 explains their choice and cost. */
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

/**
 * Returns x265 arguments without its thread pool, whose frequent wakeups make it thirty times slower on a
 * busy machine.
 */
function hevcThreads(threads: number): string {
  return `pools=none:wpp=0:frame-threads=${Math.min(threads, MOST_FRAME_THREADS)}`;
}

function ceiling({ bitrate }: RungPlan): string[] {
  return ['-maxrate', String(bitrate), '-bufsize', String(bitrate * 2)];
}
