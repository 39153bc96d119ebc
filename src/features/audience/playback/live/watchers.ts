import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../../../kernel/clock.ts';
import type { ViewerFingerprint } from '../../viewer-fingerprints/index.ts';
import type { StreamSnapshot } from './snapshot.ts';

/** Data that distinguishes players: two behind one IP address with the same browser are one. */
export interface Watcher {
  ip: string;
  userAgent: string;
  /** Playback token as a query string, if any. */
  token: string;
}

/** Receiver of viewers who got a media playlist of a broadcast or whose player reports playback. */
export interface OnWatched {
  seen(
    stream: Pick<StreamSnapshot, 'id' | 'workspaceId' | 'currentSessionId' | 'liveSince'>,
    viewer: Watcher,
    /** Fingerprint of the viewer in usage events. */
    arrivalOf: () => ViewerFingerprint,
    sign?: 'playlist' | 'beacon' | 'gone',
  ): void;
}

/** Viewers at the stop of a broadcast, as this process has seen them. */
export interface RecentWatchers {
  /** Records that the player got a media playlist of a live broadcast. */
  seen(streamId: string, watcher: Watcher): void;
  /** Reports whether the player got a playlist in the ten seconds before. */
  wasWatching(streamId: string, watcher: Watcher, stoppedAtMs: number): boolean;
}

/** Time in which a watcher counts as recent; players send requests every two or four seconds. */
const RECENT_MS = 10_000;
/** Maximum stored watchers, about 15 MB. The longest unseen is evicted first and sees the end immediately. */
const WATCHERS_MAX = 100_000;
const SALT_BYTES = 16;

/** Creates the record in memory, under a salt that never leaves it. */
export function createWatching({ clock }: { clock: Clock }): RecentWatchers {
  const salt = randomBytes(SALT_BYTES);
  /** Ordered with the longest unseen first. */
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
