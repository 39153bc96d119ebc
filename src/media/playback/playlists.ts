import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveEnding, LiveFiles, LivePlaylistRequest } from '../contract/index.ts';
import { suffixMaster, waitingMaster } from '../live/master.ts';
import {
  emptyMediaPlaylist,
  endMs,
  type MediaPlaylist,
  parseMediaPlaylist,
  renderMediaPlaylist,
  trimAfter,
  trimBefore,
} from '../live/playlist.ts';
import { isSafeName, notFound, PLAYLIST_TYPE, textReply } from './reply.ts';
import type { IsListed } from './segments.ts';

export interface PlaylistReader extends Pick<LiveFiles, 'readMaster' | 'readMediaPlaylist'> {
  isListed: IsListed;
}

/** A file's text and what was made of it, valid while the file is the same. */
interface Cached<T> {
  version: string;
  value: T;
}

/** Before the first segment the length of the segments is not known; two seconds is the standard one. */
const WAITING_TARGET_DURATION = 2;
const POLL_MS = 50;
const CACHE_FILES = 2000;

/** Reads the playlists that the media role writes below `liveDir`. */
export function createPlaylistReader(liveDir: string): PlaylistReader {
  const masters = createFileCache((text) => text);
  const playlists = createFileCache(parseMediaPlaylist);

  const currentPlaylist = async (request: LivePlaylistRequest): Promise<MediaPlaylist | null> => {
    const path = join(liveDir, request.streamId, `${request.rung}.m3u8`);
    const found = await playlists.read(path);
    // Every stream has a `src`, also before its encoder has connected.
    const playlist = found ?? (request.rung === 'src' ? emptyMediaPlaylist(WAITING_TARGET_DURATION) : null);
    return playlist && trim(playlist, { sinceMs: request.sinceMs, untilMs: request.ending?.untilMs });
  };

  return {
    isListed: async ({ streamId, epoch, rung, file }, broadcast) => {
      const playlist = await playlists.read(join(liveDir, streamId, `${rung}.m3u8`));
      if (playlist === null) return false;
      const { segments } = trim(playlist, broadcast);
      return segments.some((one) => one.epoch === epoch && one.rung === rung && one.file === file);
    },
    readMaster: async (request) => {
      if (!isSafeName(request.streamId)) return notFound();
      const master = await masters.read(join(liveDir, request.streamId, 'master.m3u8'));
      const suffix = request.uriSuffix ?? '';
      const text = master === null ? waitingMaster(suffix) : suffixMaster(master, suffix);
      return textReply(request, text, { type: PLAYLIST_TYPE, cacheControl: 'no-store' });
    },
    readMediaPlaylist: async (request) => {
      if (!isSafeName(request.streamId) || !isSafeName(request.rung)) return notFound();
      const deadlineMs = performance.now() + (request.waitMs ?? 0);
      let playlist = await currentPlaylist(request);
      while (playlist?.segments.length === 0 && performance.now() < deadlineMs) {
        await sleep(POLL_MS);
        playlist = await currentPlaylist(request);
      }
      if (!playlist || (request.ending !== undefined && playlist.segments.length === 0)) return notFound();
      const text = renderMediaPlaylist(playlist, request.uriSuffix, isComplete(playlist, request.ending));
      const cacheControl = request.isPrivate ? 'private, no-cache' : 'no-cache';
      return textReply(request, text, { type: PLAYLIST_TYPE, cacheControl });
    },
  };
}

function trim(
  playlist: MediaPlaylist,
  { sinceMs, untilMs }: { sinceMs: number | undefined; untilMs: number | undefined },
): MediaPlaylist {
  const begun = sinceMs === undefined ? playlist : trimBefore(playlist, sinceMs);
  return untilMs === undefined ? begun : trimAfter(begun, untilMs);
}

/** The last moment of the broadcast is in it, or will never be. */
function isComplete({ segments }: MediaPlaylist, ending: LiveEnding | undefined): boolean {
  if (ending === undefined) return false;
  const last = segments.at(-1);
  return ending.isSettled || (last !== undefined && endMs(last) >= ending.untilMs);
}

/** The parsed content of small files; one `stat` per read tells whether it still holds. */
function createFileCache<T>(parse: (text: string) => T): { read(path: string): Promise<T | null> } {
  const held = new Map<string, Cached<T>>();
  return {
    read: async (path) => {
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
      }
    },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
