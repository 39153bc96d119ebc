import { dateFromMs } from '../../kernel/clock.ts';

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
}

export interface MediaPlaylist {
  targetDuration: number;
  segments: PublicSegment[];
  /** Numbers of the segment that would come next; they head the playlist while it is empty. */
  nextSeq: number;
  disc: number;
}

export interface PrivateSegment {
  /** The number in `s_000012.m4s`: equal in all rungs of a run. */
  index: number;
  file: string;
  durationSec: number;
}

export interface PrivatePlaylist {
  initFile: string | null;
  segments: PrivateSegment[];
}

/** Reads what ffmpeg's hls muxer writes; a line that is not understood is passed over. */
export function parsePrivatePlaylist(text: string): PrivatePlaylist {
  const segments: PrivateSegment[] = [];
  let initFile: string | null = null;
  let durationSec: number | null = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('#EXT-X-MAP:')) {
      initFile = /URI="([a-z0-9_]+\.mp4)"/.exec(line)?.[1] ?? null;
    } else if (line.startsWith('#EXTINF:')) {
      durationSec = Number.parseFloat(line.slice(8));
    } else if (durationSec !== null) {
      const index = /^s_(\d+)\.m4s$/.exec(line.trim())?.[1];
      if (index === undefined || !Number.isFinite(durationSec)) continue;
      segments.push({ index: Number(index), file: line.trim(), durationSec });
      durationSec = null;
    }
  }
  return { initFile, segments };
}

/**
 * A live media playlist (RFC 8216 4.3).
 *
 * @param uriSuffix a query with its `?`, or nothing: put after every address.
 * @param isComplete nothing will be added: EXT-X-ENDLIST.
 */
export function renderMediaPlaylist(playlist: MediaPlaylist, uriSuffix = '', isComplete = false): string {
  const first = playlist.segments[0];
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${playlist.targetDuration}`,
    `#EXT-X-MEDIA-SEQUENCE:${first?.seq ?? playlist.nextSeq}`,
    `#EXT-X-DISCONTINUITY-SEQUENCE:${first?.disc ?? playlist.disc}`,
    '#EXT-X-INDEPENDENT-SEGMENTS',
  ];
  let before: PublicSegment | undefined;
  for (const segment of playlist.segments) {
    const folder = `../${segment.epoch}/${segment.rung}`;
    if (before && before.disc !== segment.disc) lines.push('#EXT-X-DISCONTINUITY');
    if (before?.epoch !== segment.epoch || before.rung !== segment.rung) {
      lines.push(`#EXT-X-MAP:URI="${folder}/init.mp4${uriSuffix}"`);
    }
    lines.push(
      `#EXT-X-PROGRAM-DATE-TIME:${dateFromMs(segment.startMs).toISOString()}`,
      `#EXTINF:${segment.durationSec.toFixed(6)},`,
      `${folder}/${segment.file}${uriSuffix}`,
    );
    before = segment;
  }
  if (isComplete) lines.push('#EXT-X-ENDLIST');
  return `${lines.join('\n')}\n`;
}

/** Reads back what `renderMediaPlaylist` wrote without a suffix; null when it is something else. */
export function parseMediaPlaylist(text: string): MediaPlaylist | null {
  const targetDuration = headerNumber(text, 'TARGETDURATION');
  const firstSeq = headerNumber(text, 'MEDIA-SEQUENCE');
  const firstDisc = headerNumber(text, 'DISCONTINUITY-SEQUENCE');
  if (targetDuration === null || firstSeq === null || firstDisc === null) return null;
  const segments: PublicSegment[] = [];
  let disc = firstDisc;
  let startMs = 0;
  let durationSec = 0;
  for (const line of text.split('\n')) {
    if (line === '#EXT-X-DISCONTINUITY') disc += 1;
    else if (line.startsWith('#EXT-X-PROGRAM-DATE-TIME:')) startMs = Date.parse(line.slice(25));
    else if (line.startsWith('#EXTINF:')) durationSec = Number.parseFloat(line.slice(8));
    else if (line !== '' && !line.startsWith('#')) {
      const [, epoch, rung, file] = /^\.\.\/([a-z0-9_-]+)\/([a-z0-9_-]+)\/(s_\d+\.m4s)$/.exec(line) ?? [];
      if (epoch === undefined || rung === undefined || file === undefined) return null;
      segments.push({ seq: firstSeq + segments.length, disc, epoch, rung, file, durationSec, startMs });
    }
  }
  return { targetDuration, segments, nextSeq: firstSeq + segments.length, disc };
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
  const { segments } = playlist;
  const found = segments.findIndex((segment) => endMs(segment) > sinceMs);
  const cut = found < 0 ? segments.length : found;
  const before = segments[cut - 1];
  const joinsOn = before !== undefined && endMs(before) > sinceMs - before.durationSec * 1000 - JOIN_SLACK_MS;
  return { ...playlist, segments: segments.slice(joinsOn ? cut - 1 : cut) };
}

/** Hides what was filmed after the broadcast: keeps the segments that began before `untilMs`. */
export function trimAfter(playlist: MediaPlaylist, untilMs: number): MediaPlaylist {
  return { ...playlist, segments: playlist.segments.filter(({ startMs }) => startMs < untilMs) };
}

export function endMs(segment: { startMs: number; durationSec: number }): number {
  return segment.startMs + segment.durationSec * 1000;
}

/** A valid live playlist with nothing in it yet. */
export function emptyMediaPlaylist(targetDuration: number): MediaPlaylist {
  return { targetDuration, segments: [], nextSeq: 0, disc: 0 };
}
