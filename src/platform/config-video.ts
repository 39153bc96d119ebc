import { type EncoderChoice, HARDWARE_KINDS, VIDEO_CODECS, type VideoCodec } from '../kernel/video-codecs.ts';
import { flag, integer, type Key, text } from './config-parsers.ts';

const codecs: Key<VideoCodec[]> = {
  description:
    'Video codecs, for plans with more than one: `h264`, optionally followed by `hevc`, `av1` or both, comma-separated. Additional codecs are encoded after the video is READY and use CPU time. See `docs/guides/processing.md`.',
  fallback: 'h264',
  parse: (value) => {
    const names = value.split(',').map((name) => name.trim().toUpperCase());
    const known = VIDEO_CODECS.filter((codec) => names.includes(codec));
    const isKnown = names.every((name) => VIDEO_CODECS.some((codec) => codec === name));
    if (!isKnown || !known.includes('H264')) {
      throw new Error('must be a list of h264, hevc and av1 that includes h264');
    }
    return known;
  },
};

const encoder: Key<EncoderChoice> = {
  description:
    'Encoder for videos and the lower renditions of broadcasts: `software`; `nvenc`, `vaapi` or `videotoolbox`, which are tested per codec at startup and replaced by software if they fail; `auto` uses the first that works. See `docs/guides/processing.md`.',
  fallback: 'software',
  parse: (value) => {
    const found = (['software', 'auto', ...HARDWARE_KINDS] as const).find((known) => known === value);
    if (found === undefined) throw new Error('must be software, auto, nvenc, vaapi or videotoolbox');
    return found;
  },
};

const encoderSessions = integer(
  'Maximum concurrent hardware encodes per node, one per rendition; half are reserved for broadcasts if the node has both. Further encodes use software. Drivers of consumer cards allow 3 to 12.',
  8,
  1,
  1000,
);

const vaapiDevice: Key<string> = {
  ...text('VAAPI device.', '/dev/dri/renderD128'),
  parse: (value) => {
    if (!/^\/dev\/dri\/renderD\d{1,3}$/.test(value))
      throw new Error('must be a render node, such as /dev/dri/renderD128');
    return value;
  },
};

const transcribe = text(
  'Command of a speech engine for automatic captions, such as `whisper-cli -m /opt/models/ggml-base.bin -l {language} -oj -of {output} {input}`. Empty disables automatic captions. See `docs/guides/captions.md`.',
  '',
);

const perTitle = flag(
  'Analyze some seconds of each video before encoding: simple content gets fewer renditions and keyframes, and takes less space.',
  true,
);

/** Configuration keys of video processing. */
export const VIDEO_KEYS = {
  VIDEO_CODECS: codecs,
  VIDEO_ENCODER: encoder,
  VIDEO_ENCODER_SESSIONS: encoderSessions,
  VAAPI_DEVICE: vaapiDevice,
  VIDEO_PER_TITLE: perTitle,
  TRANSCRIBE_COMMAND: transcribe,
} satisfies Record<string, Key<unknown>>;

type Read = <T>(name: string, key: Key<T>) => T | undefined;

export function readVideo(read: Read) {
  return {
    VIDEO_ENCODER: read('VIDEO_ENCODER', encoder) ?? ('software' as const),
    VIDEO_ENCODER_SESSIONS: read('VIDEO_ENCODER_SESSIONS', encoderSessions) ?? 8,
    VAAPI_DEVICE: read('VAAPI_DEVICE', vaapiDevice) ?? '/dev/dri/renderD128',
    VIDEO_CODECS: read('VIDEO_CODECS', codecs) ?? ['H264' as const],
    VIDEO_PER_TITLE: read('VIDEO_PER_TITLE', perTitle) ?? true,
    TRANSCRIBE_COMMAND: read('TRANSCRIBE_COMMAND', transcribe) ?? '',
  };
}
