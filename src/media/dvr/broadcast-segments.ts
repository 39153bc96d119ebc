import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  BlobStore,
  BroadcastSegments,
  CollectedBroadcast,
  HistorySegment,
  LiveHistory,
} from '../contract/index.ts';
import { endMs, type PublicSegment, parseMediaPlaylist } from '../live/playlist.ts';
import type { LivePlace, LiveSource } from '../nodes/live-source.ts';
import { publicSegment } from '../playback/history.ts';
import { createRebase } from './rebase.ts';

interface Options {
  /** The live windows. Where the node of one cannot be asked, what is kept is all that there is. */
  live: Pick<LiveSource, 'text' | 'open'>;
  history: LiveHistory;
  store: Pick<BlobStore, 'read'>;
}

const SOURCE = 'src';
const INIT = 'init.mp4';
/** Segments are told to the millisecond. */
const JOINS_MS = 100;

/** What is kept of broadcasts, and their live windows. */
export function createBroadcastSegments(options: Options): BroadcastSegments {
  return {
    async span(streamId, sinceMs) {
      const segments = await segmentsOf(options, streamId);
      const canBegin = (segment: PublicSegment, index: number) =>
        endMs(segment) > sinceMs && keyframeBefore(segments, index) >= 0;
      const [first, last] = [segments.find(canBegin), segments.at(-1)];
      if (first === undefined || last === undefined) return null;
      return { fromMs: Math.max(sinceMs, first.startMs), untilMs: endMs(last) };
    },
    async collect({ streamId, fromMs, untilMs, dir }) {
      const segments = await segmentsOf(options, streamId);
      const first = segments.findIndex((segment) => endMs(segment) > fromMs);
      const begin = keyframeBefore(segments, first);
      const wanted = segments.slice(begin).filter(({ startMs }) => startMs < untilMs);
      const [start] = wanted;
      if (begin < 0 || start === undefined || start.startMs > fromMs + JOINS_MS) return null;
      const runs = runsOf(wanted);
      const parts: string[] = [];
      for (const [index, run] of runs.entries()) {
        const path = join(dir, `run-${index}.mp4`);
        if (!(await write(options, streamId, run, path))) return null;
        parts.push(path);
      }
      return { parts, ...placeIn(runs.flat(), fromMs, untilMs) };
    },
  };
}

/** Oldest first. A segment that is both kept and in the window is there once. */
async function segmentsOf({ live, history }: Options, streamId: string): Promise<PublicSegment[]> {
  const window = await live.text(streamId, `${SOURCE}.m3u8`);
  const byName = new Map<string, PublicSegment>();
  const kept: readonly HistorySegment[] = await history.upTo(streamId, Number.POSITIVE_INFINITY);
  for (const segment of kept) byName.set(nameOf(segment), publicSegment(segment, SOURCE));
  for (const { parts: _, ...segment } of parseMediaPlaylist(window?.text ?? '')?.segments ?? [])
    byName.set(nameOf(segment), segment);
  return [...byName.values()].sort((one, other) => one.startMs - other.startMs);
}

function nameOf({ epoch, file }: Pick<PublicSegment, 'epoch' | 'file'>): string {
  return `${epoch}/${file}`;
}

/** Where decoding has to begin for a segment; -1 where there is no such place. */
function keyframeBefore(segments: readonly PublicSegment[], index: number): number {
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

/** Without a gap, each with one init segment. */
function runsOf(segments: readonly PublicSegment[]): PublicSegment[][] {
  const runs: PublicSegment[][] = [];
  for (const segment of segments) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last !== undefined && follows(last, segment)) run.push(segment);
    // After a gap, what needs the segment before it cannot be decoded.
    else if (!segment.isDependent) runs.push([segment]);
  }
  return runs;
}

/** @returns false when something has gone meanwhile. */
async function write(
  options: Options,
  streamId: string,
  run: readonly PublicSegment[],
  path: string,
): Promise<boolean> {
  const [first] = run;
  if (first === undefined) return false;
  const bytesOf = (file: string) => read(options, { streamId, epoch: first.epoch, rung: first.rung, file });
  const init = await bytesOf(INIT);
  if (init === null) return false;
  await appendFile(path, init);
  const rebase = createRebase(init);
  for (const { file } of run) {
    const bytes = await bytesOf(file);
    if (bytes === null) return false;
    await appendFile(path, rebase(bytes));
  }
  return true;
}

/** Out of the live window, or the store. The caller may change it. */
async function read({ live, history, store }: Options, place: LivePlace): Promise<Buffer | null> {
  const opened = await live.open(place).catch(() => null);
  const bytes = await opened?.read().finally(() => opened.close());
  // Others may be given the same bytes.
  if (bytes) return Buffer.from(bytes);
  const kept = await history.keyOf(place);
  return kept === null ? null : store.read(kept.key);
}

/** Where a span is in the media of segments, whose times may have gaps. */
function placeIn(
  segments: readonly PublicSegment[],
  fromMs: number,
  untilMs: number,
): Omit<CollectedBroadcast, 'parts'> {
  let startSec = 0;
  let durationSec = 0;
  for (const { startMs, durationSec: lastsSec } of segments) {
    const before = clamp((fromMs - startMs) / 1000, lastsSec);
    startSec += before;
    durationSec += Math.max(0, clamp((untilMs - startMs) / 1000, lastsSec) - before);
  }
  const last = segments.at(-1);
  return { startSec, durationSec, isWhole: last !== undefined && endMs(last) >= untilMs - JOINS_MS };
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most);
}
