import { baseLanguageTag } from '../../kernel/languages.ts';
import { truncate } from '../../kernel/truncate.ts';
import type { ChapterMark, ProcessingNote, SourceCaptions, SourceInfo } from '../contract/index.ts';
import { BITMAP_SUBTITLES, isTextCaption } from '../ffmpeg/codecs.ts';
import { languageOf, titleOf } from './audio.ts';
import type { ProbedStream, ProbeReport } from './ffprobe.ts';

/** Maximum number of chapters (docs/concepts/videos.md). */
const MAX_CHAPTERS = 200;
const MAX_TITLE = 200;

interface SelectedTracks {
  report: ProbeReport;
  video: ProbedStream;
  audio: readonly ProbedStream[];
  /** Reports whether the stream is cover art or similar, which is omitted without a note. */
  isStill(stream: ProbedStream): boolean;
  /** Time of zero, on the clock of the file. */
  zeroSec: number;
  durationSec: number;
}

/** Describes captions and chapters, and the omitted parts of the file. */
export function describeTracks(kept: SelectedTracks): Pick<SourceInfo, 'captions' | 'chapters' | 'notes'> {
  const { streams } = kept.report;
  const chapters = chaptersOf(kept);
  const tooMany: ProcessingNote = {
    code: 'CHAPTERS_LEFT_OUT',
    message: `The file has ${chapters.length} chapters; only the first ${MAX_CHAPTERS} were used.`,
  };
  return {
    captions: streams.filter(isText).map(describeCaptions),
    chapters: chapters.slice(0, MAX_CHAPTERS),
    notes: [
      ...streams.flatMap((stream) => noteOf(stream, kept)),
      ...(chapters.length > MAX_CHAPTERS ? [tooMany] : []),
    ],
  };
}

function isText({ codec_type, codec_name = '' }: ProbedStream): boolean {
  return codec_type === 'subtitle' && isTextCaption(codec_name);
}

/** Many files declare the purpose of captions only in the title. */
const SDH = /\b(?:sdh|cc|hearing[ -]impaired)\b/i;
const FORCED = /\bforced\b/i;

function describeCaptions(stream: ProbedStream): SourceCaptions {
  const { index, disposition } = stream;
  const title = titleOf(stream);
  return {
    streamIndex: index,
    language: languageOf(stream),
    title,
    isDefault: disposition?.default === 1,
    isForced: disposition?.forced === 1 || FORCED.test(title ?? ''),
    isSdh: disposition?.hearing_impaired === 1 || disposition?.captions === 1 || SDH.test(title ?? ''),
  };
}

function chaptersOf({ report, zeroSec, durationSec }: SelectedTracks): ChapterMark[] {
  const byStart = new Map<number, ChapterMark>();
  for (const [index, { start_time: start, tags }] of (report.chapters ?? []).entries()) {
    const startSec = Math.max(0, Math.round((Number(start) - zeroSec) * 1000) / 1000);
    const title = truncate((tags?.title ?? '').replace(/\s+/g, ' ').trim(), MAX_TITLE);
    if (startSec >= durationSec || Number.isNaN(startSec) || byStart.has(startSec)) continue;
    byStart.set(startSec, { startSec, title: title || `Chapter ${index + 1}` });
  }
  return [...byStart.values()].toSorted((a, b) => a.startSec - b.startSec);
}

function noteOf(stream: ProbedStream, { video, audio, isStill }: SelectedTracks): ProcessingNote[] {
  const { codec_type: type, codec_name: codec = 'an unknown format' } = stream;
  if (type === 'subtitle' && !isText(stream)) {
    const pictures = BITMAP_SUBTITLES[codec];
    return [pictures === undefined ? notRead(stream, codec) : inPictures(stream, pictures)];
  }
  if (type === 'audio' && !audio.includes(stream)) {
    const message = `${nameOf(stream)} was omitted: its audio (${codec}) cannot be decoded.`;
    return [{ code: 'AUDIO_LEFT_OUT', message }];
  }
  if (type === 'video' && stream !== video && !isStill(stream)) {
    const message = `${nameOf(stream)} was omitted: only one video track is supported, and the file has another that is the default or larger.`;
    return [{ code: 'VIDEO_LEFT_OUT', message }];
  }
  return [];
}

function inPictures(stream: ProbedStream, format: string): ProcessingNote {
  const message = `${nameOf(stream)} was omitted: its subtitles are images (${format}), not text. Add them as WebVTT or SubRip.`;
  return { code: 'CAPTIONS_LEFT_OUT', message };
}

function notRead(stream: ProbedStream, codec: string): ProcessingNote {
  const message = `${nameOf(stream)} was omitted: subtitles in ${codec} are not supported. Add them as WebVTT or SubRip.`;
  return { code: 'CAPTIONS_LEFT_OUT', message };
}

/** Returns the name that the file's owner sees, such as `Track 3 (German)`. */
function nameOf(stream: ProbedStream): string {
  const language = languageOf(stream);
  const name = titleOf(stream) ?? (language === null ? null : englishName(language));
  return `Track ${stream.index + 1}${name ? ` (${name})` : ''}`;
}

function englishName(language: string): string | undefined {
  return new Intl.DisplayNames(['en'], { type: 'language' }).of(baseLanguageTag(language));
}
