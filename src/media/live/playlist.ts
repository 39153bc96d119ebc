import { dateFromMs } from '../../kernel/clock.ts';
import type { LivePart, LowLatency } from './state.ts';

/** A part of a segment. */
export interface PublicPart extends LivePart {
  /** Of its first byte, in the file of the segment. */
  offset: number;
}

/** One segment as a public media playlist lists it. */
export interface PublicSegment {
  /** Its media sequence number. */
  seq: number;
  /** Its discontinuity sequence number. */
  disc: number;
  epoch: string;
  /** The rung whose folder holds the file: another one's when the epoch does not have the playlist's rung. */
  rung: string;
  file: string;
  durationSec: number;
  /** Milliseconds since the Unix epoch of its first frame. */
  startMs: number;
  /** It begins without a keyframe: players need the one before it. */
  isDependent?: true;
  /** Of the newest segments. */
  parts?: PublicPart[];
}

export interface MediaPlaylist {
  targetDuration: number;
  segments: PublicSegment[];
  /** Numbers of the segment that would come next; they head the playlist while it is empty. */
  nextSeq: number;
  disc: number;
  /** Absent where segments have no parts. */
  lowLatency?: LowLatency;
  /** The segment that would come next, as far as it is there. */
  open?: PublicSegment;
}

/** How far another rendition is (EXT-X-RENDITION-REPORT). */
export interface RenditionReport {
  rung: string;
  seq: number;
  /** Number of its last part; null where the segment has none. */
  part: number | null;
}

export interface RenderOptions {
  /** A query with its `?`, put after every address. */
  uriSuffix?: string | undefined;
  /** Nothing will be added: EXT-X-ENDLIST. */
  isComplete?: boolean;
  reports?: readonly RenditionReport[];
  /** Says where each part lies in its file: for `parseMediaPlaylist`, not for players. */
  hasOffsets?: boolean;
  /** The player knows an earlier version, and is told only what has come since (EXT-X-SKIP). */
  isDelta?: boolean | undefined;
}

/**
 * The end of a playlist with parts while nothing follows, a comment (RFC 8216 4.1): of one that ends with an address,
 * hls.js 1.7 takes the last segment for the next one as well, and gives up when that comes.
 */
const PAUSE = '#PAUSE';

/** What is so many target durations from the end may be left out for who knows it (draft-pantos-hls-rfc8216bis 4.4.3.8). */
const SKIP_TARGET_DURATIONS = 6;

/**
 * A live media playlist (RFC 8216 4.3, with the parts of draft-pantos-hls-rfc8216bis 4.4.4.9).
 */
export function renderMediaPlaylist(playlist: MediaPlaylist, options: RenderOptions = {}): string {
  const { uriSuffix = '', isComplete = false, reports = [] } = options;
  const { segments, open } = playlist;
  const skipped = options.isDelta ? skippedOf(playlist) : 0;
  const lines = header(playlist, skipped);
  let before = segments[skipped - 1];
  // It stands among what is left out, and a player need not look for it there.
  if (before !== undefined) lines.push(mapLine(before, uriSuffix));
  for (const segment of segments.slice(skipped)) {
    const uri = `${folderOf(segment)}/${segment.file}${uriSuffix}`;
    lines.push(...headLines(segment, before, uriSuffix), ...partLines(segment, options));
    lines.push(`#EXTINF:${segment.durationSec.toFixed(6)},`, uri);
    before = segment;
  }
  if (open !== undefined) {
    lines.push(...headLines(open, before, uriSuffix), ...partLines(open, options), hintLine(open, uriSuffix));
  }
  for (const { rung, seq, part } of reports) {
    const last = part === null ? '' : `,LAST-PART=${part}`;
    lines.push(`#EXT-X-RENDITION-REPORT:URI="../${rung}/index.m3u8${uriSuffix}",LAST-MSN=${seq}${last}`);
  }
  if (isComplete) lines.push('#EXT-X-ENDLIST');
  else if (open === undefined && reports.length === 0 && playlist.lowLatency !== undefined) lines.push(PAUSE);
  return `${lines.join('\n')}\n`;
}

/**
 * What makes a playlist with offsets that was rendered when the open segment had `known` parts one that has all of them,
 * when it is put at its end.
 */
export function renderNewParts(open: PublicSegment, known: number): string {
  const parts = (open.parts ?? []).slice(known);
  const lines = parts.map((part, index) => partLine(open, part, known + index, { hasOffsets: true }));
  return `${[...lines, hintLine(open, '')].join('\n')}\n`;
}

function header(playlist: MediaPlaylist, skipped: number): string[] {
  const { targetDuration, segments, lowLatency } = playlist;
  const isDependent = shownOf(playlist).some((segment) => segment.isDependent);
  const startSec = isDependent ? lastKeyframe(playlist) : null;
  return [
    '#EXTM3U',
    // Only EXT-X-SKIP asks for more.
    `#EXT-X-VERSION:${skipped > 0 ? 9 : 7}`,
    `#EXT-X-TARGETDURATION:${targetDuration}`,
    ...(lowLatency === undefined ? [] : lowLatencyLines(lowLatency, targetDuration)),
    `#EXT-X-MEDIA-SEQUENCE:${segments[0]?.seq ?? playlist.nextSeq}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${segments[0]?.disc ?? playlist.disc}`,
    ...(isDependent ? [] : ['#EXT-X-INDEPENDENT-SEGMENTS']),
    ...(startSec === null ? [] : [`#EXT-X-START:TIME-OFFSET=${seconds(startSec)}`]),
    ...(skipped > 0 ? [`#EXT-X-SKIP:SKIPPED-SEGMENTS=${skipped}`] : []),
  ];
}

/**
 * Where the last segment begins that begins with a keyframe, in seconds, while others follow it that do not: nobody can
 * begin there. null when none follows.
 */
function lastKeyframe(playlist: MediaPlaylist): number | null {
  let atSec = 0;
  let found: { atSec: number; isLast: boolean } | null = null;
  for (const { durationSec, isDependent } of shownOf(playlist)) {
    if (!isDependent) found = { atSec, isLast: true };
    else if (found !== null) found.isLast = false;
    atSec += durationSec;
  }
  return found === null || found.isLast ? null : found.atSec;
}

function shownOf({ segments, open }: MediaPlaylist): readonly PublicSegment[] {
  return open === undefined ? segments : [...segments, open];
}

/** How many segments a delta update leaves out (draft-pantos-hls-rfc8216bis 6.2.5.1). */
function skippedOf({ segments, open, targetDuration, lowLatency }: MediaPlaylist): number {
  if (lowLatency === undefined) return 0;
  let afterSec = open?.durationSec ?? 0;
  for (const [index, { durationSec }] of [...segments.entries()].reverse()) {
    afterSec += durationSec;
    if (afterSec > SKIP_TARGET_DURATIONS * targetDuration) return index;
  }
  return 0;
}

function lowLatencyLines({ partTargetSec, holdBackSec }: LowLatency, targetDuration: number): string[] {
  const control = [
    'CAN-BLOCK-RELOAD=YES',
    `CAN-SKIP-UNTIL=${SKIP_TARGET_DURATIONS * targetDuration}`,
    `PART-HOLD-BACK=${seconds(Math.max(holdBackSec, 3 * partTargetSec))}`,
  ];
  return [`#EXT-X-SERVER-CONTROL:${control.join()}`, `#EXT-X-PART-INF:PART-TARGET=${seconds(partTargetSec)}`];
}

/** What stands before a segment and its parts. */
function headLines(segment: PublicSegment, before: PublicSegment | undefined, uriSuffix: string): string[] {
  const lines: string[] = [];
  if (before && before.disc !== segment.disc) lines.push('#EXT-X-DISCONTINUITY');
  if (before?.epoch !== segment.epoch || before.rung !== segment.rung)
    lines.push(mapLine(segment, uriSuffix));
  lines.push(`#EXT-X-PROGRAM-DATE-TIME:${dateFromMs(segment.startMs).toISOString()}`);
  return lines;
}

function mapLine(segment: PublicSegment, uriSuffix: string): string {
  return `#EXT-X-MAP:URI="${folderOf(segment)}/init.mp4${uriSuffix}"`;
}

function partLines(segment: PublicSegment, options: RenderOptions): string[] {
  const parts = (segment.parts ?? []).map((part, index) => partLine(segment, part, index, options));
  return options.hasOffsets && segment.isDependent ? [DEPENDENT, ...parts] : parts;
}

function partLine(
  segment: PublicSegment,
  { durationSec, bytes, offset, isIndependent }: PublicPart,
  index: number,
  { uriSuffix = '', hasOffsets = false }: RenderOptions,
): string {
  const uri = `${folderOf(segment)}/${partFile(segment.file, index)}${uriSuffix}`;
  const range = hasOffsets ? `,BYTERANGE="${bytes}@${offset}"` : '';
  const independent = isIndependent ? ',INDEPENDENT=YES' : '';
  return `#EXT-X-PART:DURATION=${seconds(durationSec)},URI="${uri}"${range}${independent}`;
}

/** Names the part that comes next. */
function hintLine(open: PublicSegment, uriSuffix: string): string {
  const next = `${folderOf(open)}/${partFile(open.file, open.parts?.length ?? 0)}${uriSuffix}`;
  return `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${next}"`;
}

/** Before what belongs to a segment, for `parseMediaPlaylist`; a comment to everybody else (RFC 8216 4.1). */
const DEPENDENT = '#DEPENDENT';

function folderOf({ epoch, rung }: PublicSegment): string {
  return `../${epoch}/${rung}`;
}

/** `s_000012.m4s` has `s_000012.0.m4s`, `s_000012.1.m4s` and so on. */
function partFile(file: string, index: number): string {
  return file.replace(/\.m4s$/, `.${index}.m4s`);
}

/** The segment of a part's file, and its number in there; null for other files. */
export function segmentOfPart(file: string): { file: string; index: number } | null {
  const [, segment, index] = /^(s_\d{1,12})\.(\d{1,6})\.m4s$/.exec(file) ?? [];
  return segment === undefined ? null : { file: `${segment}.m4s`, index: Number(index) };
}

/** As short as it can be said to the millisecond's thousandth. */
function seconds(value: number): string {
  return String(Number(value.toFixed(6)));
}

/**
 * Reads back what `renderMediaPlaylist` wrote, with offsets and without a suffix, and `renderNewParts` after it; null
 * when it is something else. A line that is still being written does not count.
 */
export function parseMediaPlaylist(text: string): MediaPlaylist | null {
  const targetDuration = headerNumber(text, 'TARGETDURATION');
  const firstSeq = headerNumber(text, 'MEDIA-SEQUENCE');
  const firstDisc = headerNumber(text, 'DISCONTINUITY-SEQUENCE');
  if (targetDuration === null || firstSeq === null || firstDisc === null) return null;
  const segments: PublicSegment[] = [];
  let nextPart: string | undefined;
  let disc = firstDisc;
  let startMs = 0;
  let durationSec = 0;
  let parts: PublicPart[] = [];
  let isDependent = false;
  const take = (uri: string, lastsSec: number) => {
    const [, epoch, rung, file] = /^\.\.\/([a-z0-9_-]+)\/([a-z0-9_-]+)\/(s_\d+\.m4s)$/.exec(uri) ?? [];
    if (epoch === undefined || rung === undefined || file === undefined) return null;
    const seq = firstSeq + segments.length;
    const rest = { ...(isDependent && { isDependent }), ...(parts.length > 0 && { parts }) };
    return { seq, disc, epoch, rung, file, durationSec: lastsSec, startMs, ...rest };
  };
  for (const line of text.split('\n').slice(0, -1)) {
    if (line === '#EXT-X-DISCONTINUITY') disc += 1;
    else if (line === DEPENDENT) isDependent = true;
    else if (line.startsWith('#EXT-X-PROGRAM-DATE-TIME:')) startMs = Date.parse(line.slice(25));
    else if (line.startsWith('#EXTINF:')) durationSec = Number.parseFloat(line.slice(8));
    else if (line.startsWith('#EXT-X-PART:')) {
      const part = parsePart(line);
      if (part === null) return null;
      parts.push(part);
    } else if (line.startsWith('#EXT-X-PRELOAD-HINT:')) {
      nextPart = line;
    } else if (line !== '' && !line.startsWith('#')) {
      const segment = take(line, durationSec);
      if (segment === null) return null;
      segments.push(segment);
      parts = [];
      isDependent = false;
    }
  }
  const lowLatency = parseLowLatency(text);
  const open = nextPart === undefined ? undefined : take(segmentOfHint(nextPart), lengthOf(parts));
  if (open === null) return null;
  return {
    targetDuration,
    segments,
    nextSeq: firstSeq + segments.length,
    disc,
    ...(lowLatency === null ? {} : { lowLatency }),
    ...(open === undefined ? {} : { open }),
  };
}

function segmentOfHint(line: string): string {
  return line.replace(/^.*,URI="([^"]+)\.\d+\.m4s"$/, '$1.m4s');
}

function lengthOf(parts: readonly PublicPart[]): number {
  return parts.reduce((total, { durationSec }) => total + durationSec, 0);
}

function parsePart(line: string): PublicPart | null {
  const found = /^#EXT-X-PART:DURATION=([\d.]+),URI="[^"]+",BYTERANGE="(\d+)@(\d+)"(,INDEPENDENT=YES)?$/.exec(
    line,
  );
  if (found === null) return null;
  const [, durationSec, bytes, offset, independent] = found;
  return {
    durationSec: Number(durationSec),
    bytes: Number(bytes),
    offset: Number(offset),
    isIndependent: independent !== undefined,
  };
}

function parseLowLatency(text: string): LowLatency | null {
  const holdBackSec = /,PART-HOLD-BACK=([\d.]+)$/m.exec(text)?.[1];
  const partTargetSec = /^#EXT-X-PART-INF:PART-TARGET=([\d.]+)$/m.exec(text)?.[1];
  if (holdBackSec === undefined || partTargetSec === undefined) return null;
  return { partTargetSec: Number(partTargetSec), holdBackSec: Number(holdBackSec) };
}

function headerNumber(text: string, name: string): number | null {
  const value = new RegExp(`^#EXT-X-${name}:(\\d+)$`, 'm').exec(text)?.[1];
  return value === undefined ? null : Number(value);
}

/** Packaging delay between the last frame of a segment and the next one in the list. */
const JOIN_SLACK_MS = 1000;

/**
 * Hides what was filmed before the broadcast started: keeps the segments that end after `sinceMs`, and the
 * one before them when it joins on, so that playback can start at once. Sequence numbers are kept, so a
 * player sees a window that simply starts later.
 */
export function trimBefore(playlist: MediaPlaylist, sinceMs: number): MediaPlaylist {
  const { segments, open } = playlist;
  const found = segments.findIndex((segment) => endMs(segment) > sinceMs);
  const cut = found < 0 ? segments.length : found;
  const before = segments[cut - 1];
  const joinsOn = before !== undefined && endMs(before) > sinceMs - before.durationSec * 1000 - JOIN_SLACK_MS;
  const kept = segments.slice(joinsOn ? cut - 1 : cut);
  const isOpenHidden = open === undefined || (kept.length === 0 && endMs(open) <= sinceMs);
  return isOpenHidden ? withoutOpen({ ...playlist, segments: kept }) : { ...playlist, segments: kept };
}

/** Where players may begin: leaves out what comes before the first keyframe, unless there is none. */
export function fromKeyframe(playlist: MediaPlaylist): MediaPlaylist {
  const first = playlist.segments.findIndex(({ isDependent }) => !isDependent);
  return first > 0 ? { ...playlist, segments: playlist.segments.slice(first) } : playlist;
}

/** Hides what was filmed after the broadcast: keeps the segments, and the parts of the last, that began before `untilMs`. */
export function trimAfter(playlist: MediaPlaylist, untilMs: number): MediaPlaylist {
  const segments = playlist.segments.filter(({ startMs }) => startMs < untilMs);
  const { open } = playlist;
  if (open === undefined || segments.length < playlist.segments.length || open.startMs >= untilMs)
    return withoutOpen({ ...playlist, segments });
  let startMs = open.startMs;
  const parts = open.parts?.filter(({ durationSec }) => {
    const isBefore = startMs < untilMs;
    startMs += durationSec * 1000;
    return isBefore;
  });
  return { ...playlist, segments, open: { ...open, ...(parts === undefined ? {} : { parts }) } };
}

/** Whole segments alone: hls.js does not load the rest of a segment that it has parts of, once nothing more will come. */
export function withoutParts({ open: _, lowLatency: __, ...playlist }: MediaPlaylist): MediaPlaylist {
  return { ...playlist, segments: playlist.segments.map(({ parts: ___, ...segment }) => segment) };
}

function withoutOpen({ open: _, ...playlist }: MediaPlaylist): MediaPlaylist {
  return playlist;
}

export function endMs(segment: { startMs: number; durationSec: number }): number {
  return segment.startMs + segment.durationSec * 1000;
}

/** A valid live playlist with nothing in it yet. */
export function emptyMediaPlaylist(targetDuration: number): MediaPlaylist {
  return { targetDuration, segments: [], nextSeq: 0, disc: 0 };
}
