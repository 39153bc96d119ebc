import { dateFromMs } from '../../kernel/clock.ts';
import type { LivePart, LowLatency } from './state.ts';

/** Part of a segment. */
export interface PublicPart extends LivePart {
  /** Offset of its first byte in the segment file. */
  offset: number;
}

/** Segment as listed in a public media playlist. */
export interface PublicSegment {
  /** Its media sequence number. */
  seq: number;
  /** Its discontinuity sequence number. */
  disc: number;
  epoch: string;
  /** Rung whose folder holds the file: another one when the epoch does not have the playlist's rung. */
  rung: string;
  file: string;
  durationSec: number;
  /** Milliseconds since the Unix epoch of its first frame. */
  startMs: number;
  /** The segment does not begin with a keyframe: players need the previous one. */
  isDependent?: true;
  /** Parts, present for the newest segments only. */
  parts?: PublicPart[];
}

export interface MediaPlaylist {
  targetDuration: number;
  segments: PublicSegment[];
  /** Sequence numbers of the next segment; an empty playlist has them in its header. */
  nextSeq: number;
  disc: number;
  /** Absent where segments have no parts. */
  lowLatency?: LowLatency;
  /** Next segment, with the parts available. */
  open?: PublicSegment;
}

/** Newest position of another rendition (EXT-X-RENDITION-REPORT). */
export interface RenditionReport {
  rung: string;
  seq: number;
  /** Number of its last part; null where the segment has none. */
  part: number | null;
}

export interface RenderOptions {
  /** Query string, including its `?`, appended to every URL. */
  uriSuffix?: string | undefined;
  /** The playlist is final: EXT-X-ENDLIST. */
  isComplete?: boolean;
  reports?: readonly RenditionReport[];
  /** Includes the byte offset of each part: for `parseMediaPlaylist`, not for players. */
  hasOffsets?: boolean;
  /** The player has an earlier version and gets a delta update (EXT-X-SKIP). */
  isDelta?: boolean | undefined;
}

/**
 * Comment (RFC 8216 4.1) at the end of a playlist with parts while nothing follows: if the playlist ended
 * with a URL, hls.js 1.7 would take the last segment for the next one as well, and give up when that comes.
 */
const PAUSE = '#PAUSE';

/**
 * Distance from the end, in target durations, before which a delta update may skip segments
 * (draft-pantos-hls-rfc8216bis 4.4.3.8).
 */
const SKIP_TARGET_DURATIONS = 6;

/** Renders a live media playlist (RFC 8216 4.3, with the parts of draft-pantos-hls-rfc8216bis 4.4.4.9). */
export function renderMediaPlaylist(playlist: MediaPlaylist, options: RenderOptions = {}): string {
  const { uriSuffix = '', isComplete = false, reports = [] } = options;
  const { segments, open } = playlist;
  const skipped = options.isDelta ? skippedOf(playlist) : 0;
  const lines = header(playlist, skipped);
  let before = segments[skipped - 1];
  // The map tag is among the skipped lines, and a player need not look for it there.
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
 * Renders the text to append to a playlist with offsets, rendered when the open segment had `known` parts, so
 * that it has all parts.
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
    // Only EXT-X-SKIP requires a higher version.
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
 * Returns the start, in seconds, of the last segment with a keyframe when segments without one follow, in
 * which playback cannot start; null when none follow.
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

/** Returns the number of segments that a delta update skips (draft-pantos-hls-rfc8216bis 6.2.5.1). */
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

/** Renders the tags before a segment and its parts. */
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

/** Renders the preload hint for the next part. */
function hintLine(open: PublicSegment, uriSuffix: string): string {
  const next = `${folderOf(open)}/${partFile(open.file, open.parts?.length ?? 0)}${uriSuffix}`;
  return `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${next}"`;
}

/**
 * Marker before the tags of a segment, for `parseMediaPlaylist`; a comment for all other readers (RFC 8216
 * 4.1).
 */
const DEPENDENT = '#DEPENDENT';

function folderOf({ epoch, rung }: PublicSegment): string {
  return `../${epoch}/${rung}`;
}

/** `s_000012.m4s` has `s_000012.0.m4s`, `s_000012.1.m4s` and so on. */
function partFile(file: string, index: number): string {
  return file.replace(/\.m4s$/, `.${index}.m4s`);
}

/** Returns the segment of a part's file, and the index of the part; null for other files. */
export function segmentOfPart(file: string): { file: string; index: number } | null {
  const [, segment, index] = /^(s_\d{1,12})\.(\d{1,6})\.m4s$/.exec(file) ?? [];
  return segment === undefined ? null : { file: `${segment}.m4s`, index: Number(index) };
}

/** Formats with up to six decimals, without trailing zeros. */
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

/** Tolerance for the packaging delay between the last frame of a segment and the next one in the list. */
const JOIN_SLACK_MS = 1000;

/**
 * Hides media from before the broadcast started: keeps the segments that end after `sinceMs`, and the one
 * before them when it is contiguous, so that playback can start immediately. Sequence numbers are unchanged,
 * so a player sees a window that simply starts later.
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

/**
 * Removes the segments before the first keyframe, where players cannot start, unless there is no keyframe.
 */
export function fromKeyframe(playlist: MediaPlaylist): MediaPlaylist {
  const first = playlist.segments.findIndex(({ isDependent }) => !isDependent);
  return first > 0 ? { ...playlist, segments: playlist.segments.slice(first) } : playlist;
}

/**
 * Hides media from after the broadcast: keeps the segments, and the parts of the last, that began before
 * `untilMs`.
 */
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

/**
 * Returns the playlist with whole segments only: hls.js does not load the rest of a segment that it has parts
 * of after the last update.
 */
export function withoutParts({ open: _, lowLatency: __, ...playlist }: MediaPlaylist): MediaPlaylist {
  return { ...playlist, segments: playlist.segments.map(({ parts: ___, ...segment }) => segment) };
}

function withoutOpen({ open: _, ...playlist }: MediaPlaylist): MediaPlaylist {
  return playlist;
}

export function endMs(segment: { startMs: number; durationSec: number }): number {
  return segment.startMs + segment.durationSec * 1000;
}

/** Returns a valid live playlist without segments. */
export function emptyMediaPlaylist(targetDuration: number): MediaPlaylist {
  return { targetDuration, segments: [], nextSeq: 0, disc: 0 };
}
