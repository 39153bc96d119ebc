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
  /** In the rung that has most of it. */
  durationSec: number;
  /** What each rung has of it. */
  rungs: Record<string, HistoryRung>;
}

export interface HistoryRung {
  durationSec: number;
  bytes: number;
  /** It begins without a keyframe. */
  isDependent?: true;
}

/** A broadcast that keeps what has left the live window. */
export interface DvrBroadcast {
  streamId: string;
  /** Milliseconds since the Unix epoch. */
  sinceMs: number;
  /** Where the newest segment that is kept begins; null where there is none. */
  keptUntilMs: number | null;
  /** Its files lie below it in the store, without a slash at the end: `<folder>/<epoch>/<rung>/<file>`. */
  folder: string;
}

/** Of the newest segment that is kept. */
export type DvrPosition = Pick<HistorySegment, 'seq' | 'disc' | 'epoch'>;

/** What the keeper of the history asks and tells; filled by the composition root. */
export interface DvrPort {
  /** The broadcasts of this node that keep their history. */
  wanted(nodeId: string): Promise<DvrBroadcast[]>;
  /**
   * The files of a segment are in the store: it takes storage, and is shown from here on.
   *
   * @returns false when there is no room for it, or nobody wants it any more: its files can go.
   */
  kept(segment: HistorySegment): Promise<boolean>;
  /** Where the numbers of a stream go on; null where nothing of it is kept. */
  lastKept(streamId: string): Promise<DvrPosition | null>;
}

/** The history of live streams, as viewers are shown it. */
export interface LiveHistory {
  /** What is kept of a stream, oldest first, up to the segment with this number at least, if it is kept. */
  upTo(streamId: string, seq: number): Promise<readonly HistorySegment[]>;
  /** The key of a kept file; null when there is none. */
  keyOf(file: { streamId: string; epoch: string; rung: string; file: string }): Promise<DvrFile | null>;
}

export interface DvrFile {
  key: string;
  /** Milliseconds since the Unix epoch; of an init segment, those of the newest segment that needs it. */
  startMs: number;
  endMs: number;
}
