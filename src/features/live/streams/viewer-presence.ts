import { utcDay } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';
import { ipBlock } from '../../../kernel/ip-block.ts';
import type { ViewerFingerprint } from '../../audience/viewer-fingerprints/index.ts';

/** Validity of a playlist request; players request a media playlist every two or four seconds. */
const PLAYLIST_MS = 15_000;
/** Validity of a beacon; beacons come every 15 seconds, and one of them may be lost. */
const BEACON_MS = 35_000;
/** Maximum view interval; a longer one was measured by a wrong clock. */
export const MAX_VIEW_INTERVAL_MS = 60_000;
/** Growth after which a view interval is written again. */
const STEP_MS = 5000;
/** Time after which this process drops a viewer who left; the database still has them. */
const FORGET_MS = 600_000;
/** Maximum viewers that this process holds, across all streams. */
const VIEWERS_MAX = 200_000;
/** Maximum viewers that one IP address (and token) can add to a stream per hour. */
const PER_ADDRESS = 100;
const ADDRESSES_MAX = 200_000;

/**
 * Data that distinguishes viewers. It identifies no person: two behind one IP address with the same browser
 * are one.
 */
export interface ViewerIdentity {
  ip: string;
  userAgent: string;
  /** The playback token, where the stream needs one. */
  token: string;
}

/** Broadcast that a viewer watches. */
export interface WatchedBroadcast {
  id: string;
  workspaceId: string;
  /** ID of the session; null until the stream has had a signal. */
  currentSessionId: string | null;
  liveSince: Date | null;
}

/**
 * `playlist`: a media playlist was served. `beacon`: the player reports playback; `gone`: it reports the end.
 */
export type ViewerSignal = 'playlist' | 'beacon' | 'gone';

/** View interval to be written. */
export interface ViewInterval {
  streamId: string;
  sessionId: string | null;
  /** Day whose salt is used for the viewer's hash, such as `2026-11-20`. */
  day: string;
  /** A keyed hash, the same in every process. */
  who: string;
  hasBeacon: boolean;
  untilMs: number;
  workspaceId: string;
  /** Fingerprint of the viewer in usage events. */
  arrival: ViewerFingerprint;
  /** Start of the view interval. */
  sinceMs: number;
}

interface Seen extends ViewInterval {
  /** End of the interval in the database. */
  writtenMs: number;
}

/** Memory of viewer signals until they are written. */
export interface Presence {
  /** @param arrivalOf is called once for each viewer. */
  note(
    stream: WatchedBroadcast,
    viewer: ViewerIdentity,
    sign: ViewerSignal,
    arrivalOf: () => ViewerFingerprint,
    nowMs: number,
  ): void;
  /** Returns view intervals that are not in the database yet. */
  unwritten(): ViewInterval[];
  written(stays: readonly ViewInterval[]): void;
  /** Drops viewers who have left. */
  forget(nowMs: number): void;
}

/** @param sign a keyed hash, with a key that all processes have. */
export function createPresence(sign: (text: string) => string): Presence {
  const viewers = new Map<string, Seen>();
  const newcomers = createNewcomers();

  const admits = (streamId: string, { ip, token }: ViewerIdentity, nowMs: number) => {
    if (viewers.size >= VIEWERS_MAX) return false;
    return newcomers.admits(sign(JSON.stringify([streamId, ipBlock(ip), token])), nowMs);
  };
  return {
    note({ id, workspaceId, currentSessionId, liveSince }, viewer, kind, arrivalOf, nowMs) {
      const { ip, userAgent, token } = viewer;
      const who = sign(JSON.stringify([ipBlock(ip), userAgent, token]));
      const key = `${id} ${currentSessionId} ${who}`;
      const day = saltDay(liveSince, nowMs);
      const hasBeacon = kind !== 'playlist';
      const untilMs = kind === 'gone' ? nowMs : nowMs + (hasBeacon ? BEACON_MS : PLAYLIST_MS);
      const known = viewers.get(key);
      if (known === undefined) {
        if (!admits(id, viewer, nowMs)) return;
        const stay = { streamId: id, workspaceId, sessionId: currentSessionId, day, who, hasBeacon, untilMs };
        viewers.set(key, { ...stay, arrival: arrivalOf(), sinceMs: nowMs, writtenMs: 0 });
        return;
      }
      if (known.hasBeacon && !hasBeacon) return;
      // Ordered by the time at which they leave.
      viewers.delete(key);
      const { writtenMs, sinceMs } = known.day === day ? known : { writtenMs: 0, sinceMs: nowMs };
      viewers.set(key, { ...known, day, hasBeacon, untilMs, sinceMs, writtenMs });
    },
    unwritten: () => [...viewers.values()].filter(isNews),
    written(stays) {
      for (const stay of stays) {
        const seen = viewers.get(`${stay.streamId} ${stay.sessionId} ${stay.who}`);
        if (seen !== undefined) seen.writtenMs = stay.untilMs;
      }
    },
    forget(nowMs) {
      for (const [key, { untilMs }] of viewers) {
        // A wrong clock must not hold viewers.
        if (Math.abs(nowMs - untilMs) > FORGET_MS) viewers.delete(key);
      }
    },
  };
}

function isNews({ untilMs, writtenMs }: Seen): boolean {
  // A viewer who leaves is written immediately.
  return untilMs < writtenMs || untilMs - writtenMs >= STEP_MS;
}

/** Limits new viewers, so that one IP address cannot fake an audience. */
function createNewcomers() {
  const counts = new Map<string, number>();
  let sinceMs = 0;
  return {
    admits(from: string, nowMs: number): boolean {
      if (Math.abs(nowMs - sinceMs) >= HOUR_MS || counts.size >= ADDRESSES_MAX) {
        counts.clear();
        sinceMs = nowMs;
      }
      const count = (counts.get(from) ?? 0) + 1;
      counts.set(from, count);
      return count <= PER_ADDRESS;
    },
  };
}

/**
 * Returns the day on which the broadcast began while its salt is retained, so that midnight does not turn
 * viewers into new ones.
 */
export function saltDay(liveSince: Date | null, nowMs: number): string {
  const since = Math.min(liveSince?.getTime() ?? nowMs, nowMs);
  return utcDay(Math.max(since, nowMs - DAY_MS));
}
