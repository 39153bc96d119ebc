import { canonicalLanguage, languageName, uniqueLabel } from '../../kernel/languages.ts';
import { truncate } from '../../kernel/truncate.ts';
import type { AudioPlan, ProcessingNote, SourceAudio, Span } from '../contract/index.ts';
import { isSupportedAudio } from '../ffmpeg/codecs.ts';
import { audioDecodes, type ProbedStream, type TrackInput } from './ffprobe.ts';
import type { Tools } from './run.ts';

/** Sound that begins so near to the pictures can be copied; what an encoder puts first is not played. */
const LATE_SEC = 0.03;
const EARLY_SEC = 0.06;
/** Channels of 5.1, for which there is a common layout. */
const SURROUND = 6;
/** Channels of 7.1. More are mostly tracks of their own, and ffmpeg guesses where nothing says what they are. */
const MOST_SPEAKERS = 8;
/** docs/guides/processing.md: each is stored beside the pictures, with 5.1 twice. */
const MAX_SOUNDS = 8;

/** Bits per second of AAC by its channels. */
const BITRATES = [80_000, 128_000, 384_000] as const;

const MAX_TITLE = 100;
/** Words of programs that write files, not of people. */
const NO_TITLE = /^(?:(?:sound|audio|stereo|surround) ?(?:handler|track)?|.*media handler|und)$/i;
/** ISO 639-2 and BCP 47 for: not said, not one, none. */
const NO_LANGUAGE = ['und', 'mul', 'mis', 'zxx'];

export function isReadableAudio({ codec_type, codec_name, channels, sample_rate }: ProbedStream): boolean {
  return (
    codec_type === 'audio' &&
    isSupportedAudio(codec_name ?? '') &&
    (channels ?? 0) > 0 &&
    Number(sample_rate) > 0
  );
}

export interface ProbedAudio {
  /** The tracks that can be decoded. */
  tracks: ProbedStream[];
  /** Streams of those whose channels ffmpeg cannot mix. */
  discrete: ReadonlySet<number>;
}

/** Looks at each by itself. */
export async function probeAudioTracks(
  tools: Tools,
  streams: readonly ProbedStream[],
  input: Omit<TrackInput, 'streamIndex'>,
): Promise<ProbedAudio> {
  const tracks: ProbedStream[] = [];
  const discrete = new Set<number>();
  for (const stream of streams) {
    const track = { ...input, streamIndex: stream.index };
    const isMixed = await audioDecodes(tools, track, { mixed: true });
    if (!isMixed && !(await audioDecodes(tools, track))) continue;
    tracks.push(stream);
    if (!isMixed) discrete.add(stream.index);
  }
  return { tracks, discrete };
}

/** What one video has of them. @param tracks in their order. */
export function selectAudioTracks(tracks: readonly ProbedStream[]): {
  kept: ProbedStream[];
  notes: ProcessingNote[];
} {
  const kept = tracks.slice(0, MAX_SOUNDS);
  if (kept.length === tracks.length) return { kept, notes: [] };
  const message = `The file has ${tracks.length} audio tracks; only ${MAX_SOUNDS} were used: the default track and the first others.`;
  return { kept, notes: [{ code: 'AUDIO_LEFT_OUT', message }] };
}

/** The default one, or else the first, before the others. */
export function defaultFirst(tracks: readonly ProbedStream[]): ProbedStream[] {
  return tracks.toSorted((a, b) => defaultRank(a) - defaultRank(b));
}

function defaultRank({ disposition }: ProbedStream): number {
  return disposition?.default === 1 ? 0 : 1;
}

/** Samples of a packet of AAC. */
const AAC_SAMPLES = 1024;

interface SoundFacts {
  /** On the clock of the video; null when there is no packet. */
  span: Span | null;
  /** Of the video. */
  durationSec: number;
  frameRate: number;
  /** Its settings are to the end what the container says. */
  isDeclared: boolean;
  discrete: ReadonlySet<number>;
}

export function describeAudio(
  track: ProbedStream,
  { span, durationSec, frameRate, isDeclared, discrete }: SoundFacts,
): SourceAudio {
  const channels = track.channels ?? 0;
  const isAacLc = track.codec_name === 'aac' && track.profile === 'LC';
  const isCommon = channels <= 2 || (channels === SURROUND && track.channel_layout === '5.1');
  const missingSec = Math.max(1 / frameRate, AAC_SAMPLES / Number(track.sample_rate));
  const isInStep =
    span !== null &&
    span.startSec <= LATE_SEC &&
    span.startSec >= -EARLY_SEC &&
    durationSec - span.endSec <= missingSec;
  const { descriptions, visual_impaired: forBlind } = track.disposition ?? {};
  return {
    streamIndex: track.index,
    codec: track.codec_name ?? '',
    profile: track.profile ?? null,
    channels,
    sampleRate: Number(track.sample_rate),
    bitrate: Number(track.bit_rate) || null,
    canCopy: isAacLc && isCommon && isInStep && isDeclared,
    language: languageOf(track),
    title: titleOf(track),
    isDescription: descriptions === 1 || forBlind === 1,
    ...(channels > 1 && (discrete.has(track.index) || isGuessed(track)) ? { isDiscrete: true } : {}),
    ...(span === null ? {} : { span: { startSec: span.startSec, endSec: durationSec } }),
  };
}

function isGuessed({ codec_name: codec = '', channels = 0, channel_layout: layout }: ProbedStream): boolean {
  return (
    channels > MOST_SPEAKERS && (codec.startsWith('pcm_') || layout === undefined || layout === 'unknown')
  );
}

/** BCP 47, out of the tags of a track; null where they do not say. */
export function languageOf({ tags }: ProbedStream): string | null {
  const language = canonicalLanguage(tags?.language ?? '');
  return language === null || NO_LANGUAGE.includes(language) ? null : language;
}

/** What people have called a track; null when nobody has. */
export function titleOf({ tags }: ProbedStream): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to go.
  const title = (tags?.title ?? '').replace(/[\s\x00-\x1f\x7f"]+/g, ' ').trim();
  return title === '' || NO_TITLE.test(title) ? null : truncate(title, MAX_TITLE);
}

/** Every track in stereo, and as 5.1 beside it where it has so many channels that belong together. */
export function planAudio(tracks: readonly SourceAudio[]): AudioPlan[] {
  const labels = labelsOf(tracks);
  return tracks.flatMap((source, track) => {
    const { streamIndex, language, isDescription, channels, canCopy, bitrate, isDiscrete = false } = source;
    const named = { track, streamIndex, language, label: labels[track] ?? '', isDescription };
    const { span } = source;
    const shared = {
      ...named,
      ...(isDiscrete ? { isDiscrete } : {}),
      ...(span === undefined ? {} : { span }),
    };
    const name = track === 0 ? 'audio' : `audio-${track}`;
    const rendition = (at: string, wanted: number): AudioPlan => {
      const isCopy = canCopy && channels === wanted;
      const target = targetBitrate(wanted);
      return {
        name: at,
        ...shared,
        isCopy,
        channels: wanted,
        bitrate: isCopy ? (bitrate ?? target) : target,
      };
    };
    const stereo = rendition(name, Math.min(channels, 2));
    return channels < SURROUND || isDiscrete ? [stereo] : [stereo, rendition(`${name}-surround`, SURROUND)];
  });
}

function targetBitrate(channels: number): number {
  return BITRATES[channels === SURROUND ? 2 : channels === 2 ? 1 : 0];
}

/** What viewers choose by; in one video no two are the same. */
function labelsOf(tracks: readonly SourceAudio[]): string[] {
  const taken = new Set<string>();
  return tracks.map(({ title, language, isDescription }, index) => {
    const name = language === null ? null : languageName(language);
    const plain = title ?? name ?? (index === 0 ? 'Main' : `Audio ${index + 1}`);
    const label = isDescription && title === null ? `${plain} (audio description)` : plain;
    return uniqueLabel(label, taken);
  });
}
