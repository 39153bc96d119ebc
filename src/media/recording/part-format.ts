import Type, { type Static } from 'typebox';
import { compileSchema } from '../../platform/schema-validator.ts';

/** Properties that decide whether two parts can be joined without encoding. */
export interface PartFormat {
  video: Track & {
    width: number;
    height: number /** As ffmpeg writes it: `30000/1001`. */;
    frameRate: string;
  };
  audio: (Track & { sampleRate: number; channels: number }) | null;
}

interface Track {
  /** Equal for tracks that one decoder set-up can play. */
  settings: string;
}

const Stream = Type.Object({
  codec_type: Type.Optional(Type.String()),
  codec_name: Type.Optional(Type.String()),
  extradata_hash: Type.Optional(Type.String()),
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
  avg_frame_rate: Type.Optional(Type.String({ pattern: '^\\d{1,9}/\\d{1,9}$' })),
  sample_rate: Type.Optional(Type.String({ pattern: '^\\d{1,7}$' })),
  channels: Type.Optional(Type.Integer()),
});
type Stream = Static<typeof Stream>;
const report = compileSchema(Type.Object({ streams: Type.Array(Stream) }));

/** Reads ffprobe's report on a part; null when it has no video. */
export function readFormat(json: string): PartFormat | null {
  const parsed: unknown = JSON.parse(json);
  if (!report.matches(parsed)) return null;
  const video = parsed.streams.find((stream) => stream.codec_type === 'video');
  const audio = parsed.streams.find((stream) => stream.codec_type === 'audio');
  if (video === undefined || !video.width || !video.height) return null;
  const { width, height } = video;
  return {
    video: { settings: settingsOf(video), width, height, frameRate: frameRateOf(video) },
    audio: audio === undefined ? null : audioOf(audio),
  };
}

function audioOf(stream: Stream): PartFormat['audio'] {
  const { sample_rate: rate, channels = 2 } = stream;
  return { settings: settingsOf(stream), sampleRate: Number(rate ?? 48_000), channels };
}

function settingsOf(stream: Stream): string {
  const { codec_name, extradata_hash, width, height, sample_rate, channels } = stream;
  return JSON.stringify([codec_name, extradata_hash, width, height, sample_rate, channels]);
}

/** Returns the frame rate; 30 for a part with a single frame, for which ffmpeg reports none. */
function frameRateOf({ avg_frame_rate: rate = '0/0' }: Stream): string {
  const [frames = 0, seconds = 0] = rate.split('/').map(Number);
  return frames > 0 && seconds > 0 ? rate : '30';
}
