import type { LiveFiles, PlaylistEnding } from '../contract/index.ts';
import { placeholderMaster, suffixMaster, TARGET_DURATION } from '../live/master.ts';
import {
  emptyMediaPlaylist,
  endMs,
  fromKeyframe,
  type MediaPlaylist,
  type PublicPart,
  parseMediaPlaylist,
  type RenditionReport,
  renderMediaPlaylist,
  trimAfter,
  trimBefore,
  withoutParts,
} from '../live/playlist.ts';
import {
  type CachedTextFile,
  isSafeName,
  type LiveSource,
  type SegmentLocation,
} from '../nodes/live-source.ts';
import { compareEdge, edgeOf } from './edge.ts';
import type { JoinHistory } from './history.ts';
import { notFound, PLAYLIST_TYPE, textReply } from './reply.ts';

interface Broadcast {
  sinceMs: number | undefined;
  untilMs: number | undefined;
}

export interface PlaylistReader extends Pick<LiveFiles, 'readMaster' | 'readMediaPlaylist' | 'awaitEdge'> {
  /** Whether the rung's playlist shows a segment to viewers of a broadcast. */
  isListed(segment: SegmentLocation, broadcast: Broadcast): Promise<boolean>;
  /** Finds a part of a segment as soon as it is listed; null when it is not, and will not be soon. */
  findPart(
    segment: SegmentLocation,
    index: number,
    shown: Broadcast & { waitMs: number },
  ): Promise<PublicPart | null>;
}

/** Reads the playlists that the media role writes. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the functions share what was read.
export function createPlaylistReader(source: LiveSource, joinHistory?: JoinHistory): PlaylistReader {
  const parse = createParser();
  const textOf = createTextCache();
  const readMaster = async (streamId: string) => (await source.text(streamId, 'master.m3u8'))?.text ?? null;
  const readRung = async (streamId: string, rung: string) =>
    parse(await source.text(streamId, `${rung}.m3u8`));

  const read = async (streamId: string, rung: string): Promise<MediaPlaylist | null> => {
    const found = await readRung(streamId, rung);
    // Every stream has a `src`, also before its encoder has connected.
    return found ?? (rung === 'src' ? emptyMediaPlaylist(TARGET_DURATION) : null);
  };
  /** Checks again with every change of the stream, until there is a result or the time has passed. */
  const until = async <T>(streamId: string, waitMs: number, look: () => Promise<T | null>) => {
    const deadlineMs = performance.now() + waitMs;
    for (;;) {
      // Before the look: what changes after it is not missed.
      const change = waitMs > 0 ? source.next(streamId) : null;
      const found = await look();
      if (found !== null || change === null || performance.now() >= deadlineMs) return found;
      await change;
    }
  };
  const reportsOf = async (streamId: string, rung: string): Promise<RenditionReport[]> => {
    const master = (await readMaster(streamId)) ?? '';
    const others = [...master.matchAll(/^([a-z0-9_-]+)\/index\.m3u8$/gm)].map((match) => match[1] ?? '');
    const reports: RenditionReport[] = [];
    for (const other of others) {
      if (other === rung) continue;
      const playlist = await readRung(streamId, other);
      const edge = playlist && edgeOf(playlist);
      if (edge) reports.push({ rung: other, ...edge });
    }
    return reports;
  };

  return {
    isListed: async ({ streamId, epoch, rung, file }, broadcast) => {
      const playlist = await readRung(streamId, rung);
      if (playlist === null) return false;
      const { segments } = trim(playlist, broadcast);
      return segments.some((one) => one.epoch === epoch && one.rung === rung && one.file === file);
    },
    findPart: async ({ streamId, epoch, rung, file }, index, { waitMs, ...broadcast }) => {
      const look = async () => {
        const playlist = await read(streamId, rung);
        if (playlist === null) return 'none';
        const { segments, open } = trim(playlist, broadcast);
        const shown = [...segments, ...(open === undefined ? [] : [open])];
        const segment = shown.find((one) => one.epoch === epoch && one.rung === rung && one.file === file);
        const isNext = segment !== undefined && segment === open && index === (open.parts?.length ?? 0);
        return segment?.parts?.[index] ?? (isNext ? null : 'none');
      };
      const found = await until(streamId, waitMs, look);
      return found === 'none' ? null : found;
    },
    readMaster: async (request) => {
      if (!isSafeName(request.streamId)) return notFound();
      const { streamId, waitMs = 0 } = request;
      const master = await until(streamId, waitMs, () => readMaster(streamId));
      const suffix = request.uriSuffix ?? '';
      const text = master === null ? placeholderMaster(suffix) : suffixMaster(master, suffix);
      return textReply(request, text, { type: PLAYLIST_TYPE, cacheControl: 'no-store' });
    },
    readMediaPlaylist: async (request) => {
      const { streamId, rung, ending, uriSuffix, isDelta, keptSinceMs } = request;
      if (!isSafeName(streamId) || !isSafeName(rung)) return notFound();
      const join = keptSinceMs === undefined ? undefined : joinHistory;
      const sinceMs = later(request.sinceMs, join && keptSinceMs);
      const broadcast = { sinceMs, untilMs: ending?.untilMs };
      const current = async () => {
        const live = await read(streamId, rung);
        if (live === null) return null;
        const whole = join ? await join(streamId, rung, live) : live;
        const trimmed = trim(whole, broadcast);
        const shown = join ? fromKeyframe(trimmed) : trimmed;
        return { whole, shown: ending === undefined ? shown : withoutParts(shown) };
      };
      const begun = async () => {
        const found = await current();
        return found?.shown.segments.length === 0 ? null : found;
      };
      const found = (await until(streamId, request.waitMs ?? 0, begun)) ?? (await current());
      if (found === null) return notFound();
      const { whole, shown } = found;
      if (ending !== undefined && shown.segments.length === 0) return notFound();
      const isOver = isComplete(shown, ending);
      const key = [broadcast.sinceMs, broadcast.untilMs, isOver, isDelta, uriSuffix].join();
      const text = await textOf(whole, key, async () => {
        const reports = shown.lowLatency === undefined ? [] : await reportsOf(streamId, rung);
        return renderMediaPlaylist(shown, { uriSuffix, reports, isComplete: isOver, isDelta });
      });
      const cacheControl = request.isPrivate ? 'private, no-cache' : 'no-cache';
      return textReply(request, text, { type: PLAYLIST_TYPE, cacheControl });
    },
    awaitEdge: async ({ streamId, rung, edge }, waitMs) => {
      if (!isSafeName(streamId) || !isSafeName(rung)) return 'shown';
      const look = async () => {
        const playlist = await readRung(streamId, rung);
        // The next segment is not known yet.
        if (playlist === null) return rung === 'src' ? null : 'shown';
        const compared = compareEdge(playlist, edge);
        return compared === 'waiting' ? null : compared;
      };
      return (await until(streamId, waitMs, look)) ?? 'waiting';
    },
  };
}

function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function trim(playlist: MediaPlaylist, { sinceMs, untilMs }: Broadcast): MediaPlaylist {
  const begun = sinceMs === undefined ? playlist : trimBefore(playlist, sinceMs);
  return untilMs === undefined ? begun : trimAfter(begun, untilMs);
}

/** The last moment of the broadcast is in it, or will never be. */
function isComplete({ segments }: MediaPlaylist, ending: PlaylistEnding | undefined): boolean {
  if (ending === undefined) return false;
  const last = segments.at(-1);
  return ending.isSettled || (last !== undefined && endMs(last) >= ending.untilMs);
}

/** Creates a cache of playlists rendered for viewers, which are identical for most of them. */
function createTextCache() {
  const held = new WeakMap<MediaPlaylist, Map<string, Promise<string>>>();
  return (playlist: MediaPlaylist, key: string, render: () => Promise<string>): Promise<string> => {
    const texts = held.get(playlist) ?? new Map<string, Promise<string>>();
    held.set(playlist, texts);
    const text = texts.get(key) ?? render();
    texts.set(key, text);
    return text;
  };
}

/** Creates a playlist parser that parses each unchanged text once. */
function createParser(): (text: CachedTextFile | null) => MediaPlaylist | null {
  const known = new WeakMap<CachedTextFile, MediaPlaylist | null>();
  return (text) => {
    if (text === null) return null;
    const found = known.get(text);
    if (found !== undefined) return found;
    const parsed = parseMediaPlaylist(text.text);
    known.set(text, parsed);
    return parsed;
  };
}
