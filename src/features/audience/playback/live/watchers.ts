import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../../../kernel/clock.ts';
import type { ViewerFingerprint } from '../../viewer-fingerprints/index.ts';
import type { StreamSnapshot } from './snapshot.ts';

/** What tells players apart: two behind one address with the same browser are one. */
export interface Watcher {
  ip: string;
  userAgent: string;
  /** The playback token as a query, where there is one. */
  token: string;
}

/** Told of everybody who was given a media playlist of a broadcast, or whose player says that it plays. */
export interface OnWatched {
  seen(
    stream: Pick<StreamSnapshot, 'id' | 'workspaceId' | 'currentSessionId' | 'liveSince'>,
    viewer: Watcher,
    /** As whom the facts have the viewer. */
    arrivalOf: () => ViewerFingerprint,
    sign?: 'playlist' | 'beacon' | 'gone',
  ): void;
}

/** Who was watching when a broadcast stopped, as this process has seen it. */
export interface RecentWatchers {
  /** The player was given a media playlist of a broadcast that is on. */
  seen(streamId: string, watcher: Watcher): void;
  /** Was it given one in the ten seconds before? */
  wasWatching(streamId: string, watcher: Watcher, stoppedAtMs: number): boolean;
}

/** Players ask every two seconds, or four. */
const RECENT_MS = 10_000;
/** About 15 MB. Whoever was seen longest ago is forgotten first, and sees the end at once. */
const WATCHERS_MAX = 100_000;
const SALT_BYTES = 16;

/** In memory, under a salt that never leaves it. */
export function createWatching({ clock }: { clock: Clock }): RecentWatchers {
  const salt = randomBytes(SALT_BYTES);
  /** The longest unseen first. */
  const seenAt = new Map<string, number>();
  const keyOf = (streamId: string, { ip, userAgent, token }: Watcher) =>
    createHmac('sha256', salt)
      .update(JSON.stringify([streamId, ip, userAgent, token]))
      .digest('base64');
  return {
    seen(streamId, watcher) {
      const key = keyOf(streamId, watcher);
      seenAt.delete(key);
      seenAt.set(key, clock.ms());
      if (seenAt.size <= WATCHERS_MAX) return;
      const [oldest] = seenAt.keys();
      if (oldest !== undefined) seenAt.delete(oldest);
    },
    wasWatching(streamId, watcher, stoppedAtMs) {
      const at = seenAt.get(keyOf(streamId, watcher));
      return at !== undefined && at >= stoppedAtMs - RECENT_MS;
    },
  };
}
