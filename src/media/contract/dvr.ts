/** A finished segment of a live stream, as the playlists name it (docs/decisions/dvr.md). */
export interface HistorySegment {
  streamId: string;
  epoch: string;
  file: string;
  /** Its media sequence number and its discontinuity sequence number. */
  seq: number;
  disc: number;
  /** Milliseconds since the Unix epoch of its first frame. */
  startMs: number;
  /** Duration in the rung with the longest part of the segment. */
  durationSec: number;
  /** Part of the segment that each rung has. */
  rungs: Record<string, HistoryRung>;
}

export interface HistoryRung {
  durationSec: number;
  bytes: number;
  /** It begins without a keyframe. */
  isDependent?: true;
}

/** Broadcast that stores segments after they leave the live window. */
export interface DvrBroadcast {
  streamId: string;
  /** Milliseconds since the Unix epoch. */
  sinceMs: number;
  /** Start time of the newest stored segment; null when there is none. */
  keptUntilMs: number | null;
  /** Its files lie below it in the store, without a slash at the end: `<folder>/<epoch>/<rung>/<file>`. */
  folder: string;
}

/** Position of the newest stored segment. */
export type DvrPosition = Pick<HistorySegment, 'seq' | 'disc' | 'epoch'>;

/** Port of the DVR uploader; filled by the composition root. */
export interface DvrPort {
  /** Returns the broadcasts of this node that store their segments. */
  wanted(nodeId: string): Promise<DvrBroadcast[]>;
  /**
   * Records that the files of a segment are in the store: it counts toward the storage quota and is visible
   * to viewers.
   *
   * @returns false when there is no room for it or the broadcast no longer stores segments: its files can be
   *   deleted.
   */
  kept(segment: HistorySegment): Promise<boolean>;
  /** Returns the position from which a stream continues its numbering; null when nothing of it is stored. */
  lastKept(streamId: string): Promise<DvrPosition | null>;
}

/** Stored segments of live streams, as served to viewers. */
export interface LiveHistory {
  /**
   * Returns the stored segments of a stream, oldest first, at least up to this sequence number if that
   * segment is stored.
   */
  upTo(streamId: string, seq: number): Promise<readonly HistorySegment[]>;
  /** Returns the key of a stored file; null when there is none. */
  keyOf(file: { streamId: string; epoch: string; rung: string; file: string }): Promise<DvrFile | null>;
}

export interface DvrFile {
  key: string;
  /** Milliseconds since the Unix epoch; of an init segment, those of the newest segment that needs it. */
  startMs: number;
  endMs: number;
}
