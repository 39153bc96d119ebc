import type { LastKnownState } from '../../../kernel/snapshots.ts';
import type { Visibility } from '../../../kernel/visibility.ts';
import { isTransientError } from '../../../platform/db/index.ts';
import type { StreamSnapshot } from './live/snapshot.ts';
import type { VideoSnapshot } from './videos/snapshot.ts';

/** Kinds of snapshots that viewers got while the database was unavailable, for the metrics. */
export type StaleAnswerKind = 'stream' | 'video';

interface Options {
  /** `LIVE_WITHOUT_DATABASE_SEC` in milliseconds. */
  maxAgeMs: number;
  /** Reports the state of the broadcast that its media node knows; null when the node does not tell. */
  isLiveOnNode(streamId: string): Promise<boolean | null>;
  onStaleAnswer(kind: StaleAnswerKind): void;
}

/** Rules for playback while the database is unavailable. */
export interface PlaybackLastKnown {
  streams: LastKnownState<StreamSnapshot>;
  videos: LastKnownState<VideoSnapshot>;
}

/**
 * Maximum age of the state of media that are not PUBLIC while this node cannot learn of a change: another node
 * may have stopped the broadcast or withdrawn the video.
 */
const MAX_RESTRICTED_AGE_MS = 30_000;

/** Creates the rules (docs/decisions/playback-and-tokens.md#last-known-state). */
export function createPlaybackLastKnown({
  maxAgeMs,
  isLiveOnNode,
  onStaleAnswer,
}: Options): PlaybackLastKnown {
  const limitOf = (visibility: Visibility, isConfirmed: boolean) =>
    visibility === 'PUBLIC' || isConfirmed ? maxAgeMs : Math.min(maxAgeMs, MAX_RESTRICTED_AGE_MS);
  const counted = <T>(kind: StaleAnswerKind, answer: T): T => {
    onStaleAnswer(kind);
    return answer;
  };
  return {
    streams: {
      isUnavailable: isTransientError,
      async answer(stream, ageMs) {
        if (ageMs > maxAgeMs) return null;
        const isLive = await isLiveOnNode(stream.id);
        if (ageMs > limitOf(stream.visibility, isLive !== null)) return null;
        if (isLive !== false) return counted('stream', stream);
        return counted('stream', { ...stream, isLive: false, liveSince: null });
      },
    },
    videos: {
      isUnavailable: isTransientError,
      async answer(video, ageMs) {
        return ageMs > limitOf(video.visibility, false) ? null : counted('video', video);
      },
    },
  };
}

/** Returns the rule for data that restricts no viewer. */
export function lastKnownFor<T>(maxAgeMs: number): LastKnownState<T> {
  return {
    isUnavailable: isTransientError,
    answer: async (snapshot, ageMs) => (ageMs > maxAgeMs ? null : snapshot),
  };
}

/** Returns the result; null when the database is unavailable. */
export async function unlessUnavailable<T>(result: Promise<T>): Promise<T | null> {
  try {
    return await result;
  } catch (error) {
    if (isTransientError(error)) return null;
    throw error;
  }
}
