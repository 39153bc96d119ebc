import { VIDEO_CODECS, type VideoCodec } from '../kernel/video-codecs.ts';
import { flag, type Key, text } from './config-kinds.ts';

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
  VIDEO_PER_TITLE: perTitle,
  TRANSCRIBE_COMMAND: transcribe,
} satisfies Record<string, Key<unknown>>;

type Read = <T>(name: string, key: Key<T>) => T | undefined;

export function readVideo(read: Read) {
  return {
    VIDEO_CODECS: read('VIDEO_CODECS', codecs) ?? ['H264' as const],
    VIDEO_PER_TITLE: read('VIDEO_PER_TITLE', perTitle) ?? true,
    TRANSCRIBE_COMMAND: read('TRANSCRIBE_COMMAND', transcribe) ?? '',
  };
}
