import { utcDay } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';
import { ipBlock } from '../../../kernel/ip-block.ts';
import type { ViewerFingerprint } from '../../audience/viewer-fingerprints/index.ts';

/** Players ask for a media playlist every two seconds, or four. */
const PLAYLIST_MS = 15_000;
/** Beacons come every 15 seconds; one of them may be lost. */
const BEACON_MS = 35_000;
/** Whoever is said to stay for longer was seen by a clock that was wrong. */
export const MAX_VIEW_INTERVAL_MS = 60_000;
/** A viewer's stay is written anew when it has grown by so much. */
const STEP_MS = 5000;
/** Whoever left so long ago is forgotten by this process; the database still knows them. */
const FORGET_MS = 600_000;
/** All that this process remembers at once, of all streams. */
const VIEWERS_MAX = 200_000;
/** Viewers that one address (and token) can bring to a stream in an hour. */
const PER_ADDRESS = 100;
const ADDRESSES_MAX = 200_000;

/** What tells viewers apart. Nobody's identity: two behind one address with the same browser are one. */
export interface ViewerIdentity {
  ip: string;
  userAgent: string;
  /** The playback token, where the stream needs one. */
  token: string;
}

/** The broadcast that a viewer watches. */
export interface WatchedBroadcast {
  id: string;
  workspaceId: string;
  /** Null until the stream has had a signal. */
  currentSessionId: string | null;
  liveSince: Date | null;
}

/** `playlist`: was given a media playlist. `beacon`: its player says that it plays; `gone`: that it does not. */
export type ViewerSignal = 'playlist' | 'beacon' | 'gone';

/** A stay to be written. */
export interface ViewInterval {
  streamId: string;
  sessionId: string | null;
  /** `2026-11-20`: whose salt the viewer's hash takes. */
  day: string;
  /** A keyed hash, the same in every process. */
  who: string;
  hasBeacon: boolean;
  untilMs: number;
  workspaceId: string;
  /** As whom the facts have the viewer. */
  arrival: ViewerFingerprint;
  /** When this stay began. */
  sinceMs: number;
}

interface Seen extends ViewInterval {
  /** What the database has. */
  writtenMs: number;
}

/** Remembers signs of viewers until they are written. */
export interface Presence {
  /** @param arrivalOf is asked once for each viewer. */
  note(
    stream: WatchedBroadcast,
    viewer: ViewerIdentity,
    sign: ViewerSignal,
    arrivalOf: () => ViewerFingerprint,
    nowMs: number,
  ): void;
  /** Stays that the database does not know yet. */
  unwritten(): ViewInterval[];
  written(stays: readonly ViewInterval[]): void;
  /** Lets go of those who have left. */
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
      // Kept in the order in which they leave.
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
        // A clock that was wrong is no reason to keep anybody.
        if (Math.abs(nowMs - untilMs) > FORGET_MS) viewers.delete(key);
      }
    },
  };
}

function isNews({ untilMs, writtenMs }: Seen): boolean {
  // Who goes is written at once.
  return untilMs < writtenMs || untilMs - writtenMs >= STEP_MS;
}

/** Counts who is new, so that one address cannot invent an audience. */
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

/** The day on which the broadcast began, while its salt is kept; so midnight makes nobody a new viewer. */
export function saltDay(liveSince: Date | null, nowMs: number): string {
  const since = Math.min(liveSince?.getTime() ?? nowMs, nowMs);
  return utcDay(Math.max(since, nowMs - DAY_MS));
}
