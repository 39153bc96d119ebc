import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LiveEnding, LiveFiles } from '../contract/index.ts';
import { suffixMaster, waitingMaster } from '../live/master.ts';
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
import { compareEdge, edgeOf } from './edge.ts';
import { createFolderChanges } from './folder-changes.ts';
import type { JoinHistory } from './history.ts';
import { isSafeName, notFound, PLAYLIST_TYPE, textReply } from './reply.ts';

/** Where in which file of which rung a segment or a part is. */
interface FileOfRung {
  streamId: string;
  epoch: string;
  rung: string;
  file: string;
}

interface Broadcast {
  sinceMs: number | undefined;
  untilMs: number | undefined;
}

export interface PlaylistReader extends Pick<LiveFiles, 'readMaster' | 'readMediaPlaylist' | 'awaitEdge'> {
  /** Whether the rung's playlist shows a segment to viewers of a broadcast. */
  isListed(segment: FileOfRung, broadcast: Broadcast): Promise<boolean>;
  /** A part of a segment, as soon as it is shown; null when it is not, and will not be soon. */
  findPart(
    segment: FileOfRung,
    index: number,
    shown: Broadcast & { waitMs: number },
  ): Promise<PublicPart | null>;
}

/** A file's text and what was made of it, valid while the file is the same. */
interface Cached<T> {
  version: string;
  value: T;
}

/** Before the first segment the length of the segments is not known; two seconds is the standard one. */
const WAITING_TARGET_DURATION = 2;
const CACHE_FILES = 2000;

/** Reads the playlists that the media role writes below `liveDir`. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the functions share what was read.
export function createPlaylistReader(liveDir: string, joinHistory?: JoinHistory): PlaylistReader {
  const masters = createFileCache((text) => text);
  const playlists = createFileCache(parseMediaPlaylist);
  const textOf = createTextCache();
  const changes = createFolderChanges();

  const read = async (streamId: string, rung: string): Promise<MediaPlaylist | null> => {
    const found = await playlists.read(join(liveDir, streamId, `${rung}.m3u8`));
    // Every stream has a `src`, also before its encoder has connected.
    return found ?? (rung === 'src' ? emptyMediaPlaylist(WAITING_TARGET_DURATION) : null);
  };
  /** Looks again with every change of the folder, until there is something or the time is over. */
  const until = async <T>(streamId: string, waitMs: number, look: () => Promise<T | null>) => {
    const deadlineMs = performance.now() + waitMs;
    for (;;) {
      // Before the look: what changes after it is not missed.
      const change = waitMs > 0 ? changes.next(join(liveDir, streamId)) : null;
      const found = await look();
      if (found !== null || change === null || performance.now() >= deadlineMs) return found;
      await change;
    }
  };
  const reportsOf = async (streamId: string, rung: string): Promise<RenditionReport[]> => {
    const master = (await masters.read(join(liveDir, streamId, 'master.m3u8'))) ?? '';
    const others = [...master.matchAll(/^([a-z0-9_-]+)\/index\.m3u8$/gm)].map((match) => match[1] ?? '');
    const reports: RenditionReport[] = [];
    for (const other of others) {
      if (other === rung) continue;
      const playlist = await playlists.read(join(liveDir, streamId, `${other}.m3u8`));
      const edge = playlist && edgeOf(playlist);
      if (edge) reports.push({ rung: other, ...edge });
    }
    return reports;
  };

  return {
    isListed: async ({ streamId, epoch, rung, file }, broadcast) => {
      const playlist = await playlists.read(join(liveDir, streamId, `${rung}.m3u8`));
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
      const master = await masters.read(join(liveDir, request.streamId, 'master.m3u8'));
      const suffix = request.uriSuffix ?? '';
      const text = master === null ? waitingMaster(suffix) : suffixMaster(master, suffix);
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
        const playlist = await read(streamId, rung);
        const compared = playlist === null ? 'shown' : compareEdge(playlist, edge);
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
function isComplete({ segments }: MediaPlaylist, ending: LiveEnding | undefined): boolean {
  if (ending === undefined) return false;
  const last = segments.at(-1);
  return ending.isSettled || (last !== undefined && endMs(last) >= ending.untilMs);
}

/** What is made of a playlist for viewers, which is the same for most of them. */
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

/** The parsed content of small files; one `stat` tells all who ask at once whether it still holds. */
function createFileCache<T>(parse: (text: string) => T): { read(path: string): Promise<T | null> } {
  const held = new Map<string, Cached<T>>();
  const reading = new Map<string, Promise<T | null>>();
  const load = async (path: string): Promise<T | null> => {
    try {
      const { mtimeNs, size, ino } = await stat(path, { bigint: true });
      const version = `${mtimeNs}-${size}-${ino}`;
      const known = held.get(path);
      if (known?.version === version) return known.value;
      const value = parse(await readFile(path, 'utf8'));
      held.delete(path);
      held.set(path, { version, value });
      const oldest = held.keys().next();
      if (held.size > CACHE_FILES && !oldest.done) held.delete(oldest.value);
      return value;
    } catch (error) {
      held.delete(path);
      if (isMissing(error)) return null;
      throw error;
    } finally {
      reading.delete(path);
    }
  };
  return {
    read: (path) => {
      const running = reading.get(path) ?? load(path);
      reading.set(path, running);
      return running;
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
