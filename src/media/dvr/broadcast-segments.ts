import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BlobStore,
  type BroadcastSegments,
  type BroadcastSpan,
  type ClipSource,
  type HistorySegment,
  type LiveHistory,
  MediaFileError,
} from '../contract/index.ts';
import { endMs, type PublicSegment, parseMediaPlaylist } from '../live/playlist.ts';
import type { LiveSource, SegmentLocation } from '../nodes/live-source.ts';
import { publicSegment } from '../playback/history.ts';
import { boxesIn, boxInside } from '../protocols/fmp4/boxes.ts';
import { createRebase } from './rebase-timestamps.ts';

interface Options {
  /** Live windows. When the node of one is unreachable, only stored segments are available. */
  live: Pick<LiveSource, 'text' | 'open' | 'part'>;
  history: LiveHistory;
  store: Pick<BlobStore, 'read'>;
}

/** Segment; of one still being written, only the first `bytes` exist. */
type Segment = PublicSegment & { bytes?: number };
type Span = BroadcastSpan & { streamId: string; dir: string };
type Run = { parts: string[]; segments: Segment[] };

const SOURCE = 'src';
const INIT = 'init.mp4';
/** Tolerance for adjacent segments, whose times are rounded to milliseconds. */
const JOINS_MS = 100;

/** Combines the stored segments of broadcasts with their live windows. */
export function createBroadcastSegments(options: Options): BroadcastSegments {
  return {
    async span(streamId, sinceMs) {
      const segments = await segmentsOf(options, streamId);
      const canBegin = (segment: Segment, index: number) =>
        endMs(segment) > sinceMs && keyframeBefore(segments, index) >= 0;
      const [first, last] = [segments.find(canBegin), segments.at(-1)];
      if (first === undefined || last === undefined) return null;
      return { fromMs: Math.max(sinceMs, first.startMs), untilMs: endMs(last) };
    },
    async collect(span) {
      const segments = await segmentsOf(options, span.streamId);
      const whole = segments.filter(({ bytes }) => bytes === undefined);
      const found = await collect(options, span, segments);
      // A segment in progress may have disappeared with its encoder.
      return found === null && whole.length < segments.length ? collect(options, span, whole) : found;
    },
  };
}

/** @returns null when the start is missing, or a segment disappeared in the process. */
async function collect(
  options: Options,
  { streamId, fromMs, untilMs, dir }: Span,
  segments: readonly Segment[],
): Promise<ClipSource | null> {
  const first = segments.findIndex((segment) => endMs(segment) > fromMs);
  const begin = keyframeBefore(segments, first);
  const wanted = segments.slice(begin).filter(({ startMs }) => startMs < untilMs);
  const [start, last] = [wanted[0], wanted.at(-1)];
  if (begin < 0 || start === undefined || start.startMs > fromMs + JOINS_MS) return null;
  const found: Run = { parts: [], segments: [] };
  for (const [index, run] of runsOf(wanted).entries()) {
    const path = join(dir, `run-${index}.mp4`);
    const init = await initOf(options, streamId, run);
    if (init === null) return null;
    if (!hasVideoTrack(init)) continue;
    if (!(await write(options, streamId, { init, run, path }))) return null;
    found.parts.push(path);
    found.segments.push(...run);
  }
  if (found.parts.length === 0) throw new MediaFileError('NO_VIDEO_TRACK', 'There is audio but no video.');
  const isWhole = last !== undefined && endMs(last) >= untilMs - JOINS_MS;
  return { parts: found.parts, isWhole, ...placeIn(found.segments, fromMs, untilMs) };
}

/**
 * Returns the segments, oldest first, including the one being written. A segment that is both stored and in
 * the window is listed once.
 */
async function segmentsOf({ live, history }: Options, streamId: string): Promise<Segment[]> {
  const window = parseMediaPlaylist((await live.text(streamId, `${SOURCE}.m3u8`))?.text ?? '');
  const byName = new Map<string, Segment>();
  const put = ({ parts: _, ...segment }: Segment) => byName.set(nameOf(segment), segment);
  const newest = window?.open?.parts?.at(-1);
  if (window?.open !== undefined && newest !== undefined)
    put({ ...window.open, bytes: newest.offset + newest.bytes });
  const kept: readonly HistorySegment[] = await history.upTo(streamId, Number.POSITIVE_INFINITY);
  for (const segment of kept) put(publicSegment(segment, SOURCE));
  for (const segment of window?.segments ?? []) put(segment);
  return [...byName.values()].sort((one, other) => one.startMs - other.startMs);
}

function nameOf({ epoch, file }: Pick<PublicSegment, 'epoch' | 'file'>): string {
  return `${epoch}/${file}`;
}

/** Returns the index at which decoding has to begin for a segment; -1 when there is none. */
function keyframeBefore(segments: readonly Segment[], index: number): number {
  for (let at = index; at >= 0; at -= 1) {
    const [segment, next] = [segments[at], segments[at + 1]];
    if (segment === undefined || (at < index && next !== undefined && !follows(segment, next))) return -1;
    if (!segment.isDependent) return at;
  }
  return -1;
}

function follows(before: PublicSegment, next: PublicSegment): boolean {
  const isSameRun = before.epoch === next.epoch && before.rung === next.rung;
  return isSameRun && next.seq === before.seq + 1;
}

/** Splits segments into runs without gaps, each with one init segment. */
function runsOf(segments: readonly Segment[]): Segment[][] {
  const runs: Segment[][] = [];
  for (const segment of segments) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last !== undefined && follows(last, segment)) run.push(segment);
    // After a gap, what needs the segment before it cannot be decoded.
    else if (!segment.isDependent) runs.push([segment]);
  }
  return runs;
}

async function initOf(
  options: Options,
  streamId: string,
  [first]: readonly Segment[],
): Promise<Buffer | null> {
  return first === undefined ? null : read(options, placeOf(streamId, first, INIT));
}

function hasVideoTrack(init: Buffer): boolean {
  const moov = boxesIn(init).find(({ type }) => type === 'moov');
  return boxesIn(init, moov).some((trak) => {
    const hdlr = trak.type === 'trak' ? boxInside(init, trak, 'mdia', 'hdlr') : null;
    // After version, flags and a reserved field (ISO/IEC 14496-12 8.4.3).
    return hdlr !== null && init.toString('latin1', hdlr.start + 8, hdlr.start + 12) === 'vide';
  });
}

/** @returns false when a segment disappeared in the process. */
async function write(
  options: Options,
  streamId: string,
  { init, run, path }: { init: Buffer; run: readonly Segment[]; path: string },
): Promise<boolean> {
  await writeFile(path, init);
  const rebase = createRebase(init);
  for (const segment of run) {
    const { file, bytes } = segment;
    const media = await read(options, placeOf(streamId, segment, file), bytes);
    if (media === null) return false;
    await appendFile(path, rebase(media));
  }
  return true;
}

function placeOf(streamId: string, { epoch, rung }: Segment, file: string): SegmentLocation {
  return { streamId, epoch, rung, file };
}

/**
 * Reads from the live window, or the store. The caller may modify the result.
 *
 * @param bytes available bytes of a file still being written.
 */
async function read(
  { live, history, store }: Options,
  place: SegmentLocation,
  bytes?: number,
): Promise<Buffer | null> {
  const opened = await live.open(place).catch(() => null);
  const whole = await opened?.read().finally(() => opened.close());
  // Copied, since other callers may receive the same buffer.
  if (whole) return Buffer.from(whole.subarray(0, bytes));
  if (bytes !== undefined) return live.part(place, { offset: 0, bytes }).catch(() => null);
  const kept = await history.keyOf(place);
  return kept === null ? null : store.read(kept.key);
}

/** Locates a time span in the media of segments, whose times may have gaps. */
function placeIn(
  segments: readonly Segment[],
  fromMs: number,
  untilMs: number,
): Pick<ClipSource, 'startSec' | 'durationSec'> {
  let startSec = 0;
  let durationSec = 0;
  for (const { startMs, durationSec: lastsSec } of segments) {
    const before = clamp((fromMs - startMs) / 1000, lastsSec);
    startSec += before;
    durationSec += Math.max(0, clamp((untilMs - startMs) / 1000, lastsSec) - before);
  }
  return { startSec, durationSec };
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most);
}
