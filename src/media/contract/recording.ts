import type { BlobInfo } from './storage.ts';

/** A publish that is to be recorded now. */
export interface DesiredRecording {
  /** The publish: `IngestSession.sessionId`. */
  publishId: string;
  /** What its file is a part of. A safe name for a folder. */
  recordingId: string;
  /** It is to be recorded and must not be: the plan's storage is full. */
  isRefused?: boolean;
}

/** One run of a recorder: one file. */
export interface RecordingPart {
  /** Ids sort by time. */
  id: string;
  recordingId: string;
}

/** What the recorders ask and tell; filled by the composition root. All but `wanted` are idempotent. */
export interface RecordingPort {
  /**
   * The publishes of this node that are to be recorded now; keeps the node's open parts from being given up.
   *
   * @param sizes of the files that grow, by the ids of their parts.
   */
  wanted(nodeId: string, sizes: ReadonlyMap<string, number>): Promise<DesiredRecording[]>;
  /**
   * Makes the part known.
   *
   * @param hasMedia it has got pictures: something was recorded.
   * @returns the key that its file is to be stored under; null when the recording takes no parts any more.
   */
  opened(nodeId: string, part: RecordingPart, hasMedia: boolean): Promise<string | null>;
  /** Nothing more is written. @param stored null when there was nothing to keep. */
  closed(partId: string, stored: BlobInfo | null): Promise<void>;
  /** The parts that this node has not closed. */
  openParts(nodeId: string): Promise<RecordingPart[]>;
}

/** Makes one file of the parts of a recording (docs/decisions/recordings.md). */
export interface RecordingJoiner {
  /**
   * Parts with the same codecs and settings are copied; where they differ, all are made like the first one.
   *
   * @param run.parts local files in their order; at least one.
   * @param run.dir for files on the way; it exists and belongs to this run alone.
   * @returns the path of the joined file, in `dir`, at most `maxSec` long.
   * @throws {MediaFileError} when no part can be read.
   */
  join(run: { parts: string[]; dir: string; maxSec: number; signal: AbortSignal }): Promise<string>;
}
