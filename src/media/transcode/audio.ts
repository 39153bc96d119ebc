import { canonicalLanguage, languageName, uniqueLabel } from '../../kernel/languages.ts';
import { truncate } from '../../kernel/truncate.ts';
import type { AudioPlan, ProcessingNote, SourceAudio, Span } from '../contract/index.ts';
import { isSupportedAudio } from '../ffmpeg/codecs.ts';
import { audioDecodes, type ProbedStream, type TrackInput } from './ffprobe.ts';
import type { Tools } from './run.ts';

/** Maximum delay of audio after the video for a copy; encoder priming is not played. */
const LATE_SEC = 0.03;
const EARLY_SEC = 0.06;
/** Number of channels in 5.1, for which there is a common layout. */
const SURROUND = 6;
/**
 * Maximum channels of a mix, those of 7.1. More are usually separate tracks, and ffmpeg guesses when the
 * layout is not declared.
 */
const MAX_MIX_CHANNELS = 8;
/** Maximum audio tracks (docs/guides/processing.md): each is stored separately from the video, 5.1 twice. */
const MAX_AUDIO_TRACKS = 8;

/** AAC bitrates in bits per second: mono, stereo, 5.1. */
const BITRATES = [80_000, 128_000, 384_000] as const;

const MAX_TITLE = 100;
/** Default titles written by programs. */
const NO_TITLE = /^(?:(?:sound|audio|stereo|surround) ?(?:handler|track)?|.*media handler|und)$/i;
/** Codes of ISO 639-2 and BCP 47 for undetermined, multiple, uncoded and no language. */
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
  /** Decodable tracks. */
  tracks: ProbedStream[];
  /** Stream indexes of tracks whose channels ffmpeg cannot mix. */
  discrete: ReadonlySet<number>;
}

/** Probes each track separately. */
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

/** Selects the audio tracks of a video. @param tracks in file order. */
export function selectAudioTracks(tracks: readonly ProbedStream[]): {
  kept: ProbedStream[];
  notes: ProcessingNote[];
} {
  const kept = tracks.slice(0, MAX_AUDIO_TRACKS);
  if (kept.length === tracks.length) return { kept, notes: [] };
  const message = `The file has ${tracks.length} audio tracks; only ${MAX_AUDIO_TRACKS} were used: the default track and the first others.`;
  return { kept, notes: [{ code: 'AUDIO_LEFT_OUT', message }] };
}

/** Sorts the default track, or else the first, before the others. */
export function defaultFirst(tracks: readonly ProbedStream[]): ProbedStream[] {
  return tracks.toSorted((a, b) => defaultRank(a) - defaultRank(b));
}

function defaultRank({ disposition }: ProbedStream): number {
  return disposition?.default === 1 ? 0 : 1;
}

/** Samples of an AAC packet. */
const AAC_SAMPLES = 1024;

interface AudioProperties {
  /** Time span on the clock of the video; null when there is no packet. */
  span: Span | null;
  /** Duration of the video. */
  durationSec: number;
  frameRate: number;
  /** Whether the settings declared by the container hold to the end. */
  isDeclared: boolean;
  discrete: ReadonlySet<number>;
}

export function describeAudio(
  track: ProbedStream,
  { span, durationSec, frameRate, isDeclared, discrete }: AudioProperties,
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
    channels > MAX_MIX_CHANNELS && (codec.startsWith('pcm_') || layout === undefined || layout === 'unknown')
  );
}

/** Returns the BCP 47 language from the tags of a track; null when they have none. */
export function languageOf({ tags }: ProbedStream): string | null {
  const language = canonicalLanguage(tags?.language ?? '');
  return language === null || NO_LANGUAGE.includes(language) ? null : language;
}

/** Returns the title of a track; null when it has none. */
export function titleOf({ tags }: ProbedStream): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to go.
  const title = (tags?.title ?? '').replace(/[\s\x00-\x1f\x7f"]+/g, ' ').trim();
  return title === '' || NO_TITLE.test(title) ? null : truncate(title, MAX_TITLE);
}

/** Plans every track in stereo, and also in 5.1 when its channels are a 5.1 layout. */
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

/** Returns the labels shown to viewers, unique within one video. */
function labelsOf(tracks: readonly SourceAudio[]): string[] {
  const taken = new Set<string>();
  return tracks.map(({ title, language, isDescription }, index) => {
    const name = language === null ? null : languageName(language);
    const plain = title ?? name ?? (index === 0 ? 'Main' : `Audio ${index + 1}`);
    const label = isDescription && title === null ? `${plain} (audio description)` : plain;
    return uniqueLabel(label, taken);
  });
}
