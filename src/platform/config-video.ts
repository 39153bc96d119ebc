import { type EncoderChoice, HARDWARE_KINDS, VIDEO_CODECS, type VideoCodec } from '../kernel/video-codecs.ts';
import { flag, integer, type Key, text } from './config-kinds.ts';

const codecs: Key<VideoCodec[]> = {
  description:
    'Codecs of videos, for plans that have more than one: `h264`, with `hevc`, `av1` or both behind a comma. Those are made when the video is READY, and cost processor time. See `docs/guides/processing.md`.',
  fallback: 'h264',
  parse: (value) => {
    const names = value.split(',').map((name) => name.trim().toUpperCase());
    const known = VIDEO_CODECS.filter((codec) => names.includes(codec));
    const isKnown = names.every((name) => VIDEO_CODECS.some((codec) => codec === name));
    if (!isKnown || !known.includes('H264')) {
      throw new Error('must be a list of h264, hevc and av1, with h264 in it');
    }
    return known;
  },
};

const encoder: Key<EncoderChoice> = {
  description:
    'What encodes videos and the lower qualities of broadcasts: `software`; `nvenc`, `vaapi` or `videotoolbox`, which are tried at the start, each codec by itself, and replaced by the software where they fail; `auto` takes the first of them that works. See `docs/guides/processing.md`.',
  fallback: 'software',
  parse: (value) => {
    const found = (['software', 'auto', ...HARDWARE_KINDS] as const).find((known) => known === value);
    if (found === undefined) throw new Error('must be software, auto, nvenc, vaapi or videotoolbox');
    return found;
  },
};

const encoderSessions = integer(
  'Encodes that the hardware of a node is given at once, one for each rendition; half of them are for broadcasts where the node has both. What is above is made in software. Consumer cards refuse more than 3 to 12, by their driver.',
  8,
  1,
  1000,
);

const vaapiDevice: Key<string> = {
  ...text('The device of VAAPI.', '/dev/dri/renderD128'),
  parse: (value) => {
    if (!/^\/dev\/dri\/renderD\d{1,3}$/.test(value))
      throw new Error('must be a render node such as /dev/dri/renderD128');
    return value;
  },
};

const transcribe = text(
  'A speech engine for automatic captions, such as `whisper-cli -m /opt/models/ggml-base.bin -l {language} -oj -of {output} {input}`. Empty: there are none. See `docs/guides/captions.md`.',
  '',
);

const perTitle = flag(
  'Look at some seconds of each video before it is encoded: easy pictures get fewer renditions and fewer keyframes, and take fewer bytes.',
  true,
);

/** The variables of what is made of videos, for the table of all. */
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
