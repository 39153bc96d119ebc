import type { BlobInfo } from './storage.ts';

/** Publish to record. */
export interface DesiredRecording {
  /** The publish: `IngestSession.sessionId`. */
  publishId: string;
  /** Recording that the file belongs to. A safe folder name. */
  recordingId: string;
  /** Recording is desired but not permitted: the plan's storage is full. */
  isRefused?: boolean;
}

/** One run of a recorder: one file. */
export interface RecordingPart {
  /** Ids sort by time. */
  id: string;
  recordingId: string;
}

/** Port of the recorders; filled by the composition root. All methods but `wanted` are idempotent. */
export interface RecordingPort {
  /**
   * Returns the publishes of this node to record, and renews the lease of its open parts.
   *
   * @param sizes of growing files, by the IDs of their parts.
   */
  wanted(nodeId: string, sizes: ReadonlyMap<string, number>): Promise<DesiredRecording[]>;
  /**
   * Records the part.
   *
   * @param hasMedia whether it contains media.
   * @returns the store key for its file; null when the recording no longer accepts parts.
   */
  opened(nodeId: string, part: RecordingPart, hasMedia: boolean): Promise<string | null>;
  /** Marks the part as complete. @param stored null when there was nothing to store. */
  closed(partId: string, stored: BlobInfo | null): Promise<void>;
  /** Lists the parts that this node has not closed. */
  openParts(nodeId: string): Promise<RecordingPart[]>;
}

/** Joiner of the parts of a recording (docs/decisions/recordings.md). */
export interface RecordingJoiner {
  /**
   * Copies parts with the same codecs and settings; where they differ, encodes all parts to match the first
   * one.
   *
   * @param run.parts local files in their order; at least one.
   * @param run.dir for temporary files; it exists and is exclusive to this run.
   * @returns the path of the joined file, in `dir`, at most `maxSec` long.
   * @throws {MediaFileError} when no part can be read.
   */
  join(run: { parts: string[]; dir: string; maxSec: number; signal: AbortSignal }): Promise<string>;
}
