import type { Readable } from 'node:stream';

/** Small file that is replaced atomically: the object stays identical while the file is unchanged. */
export interface CachedTextFile {
  readonly text: string;
}

/** A segment, or the init segment, of a live stream. */
export interface SegmentLocation {
  streamId: string;
  epoch: string;
  rung: string;
  file: string;
}

/** Complete file, open for reading. */
export interface OpenedFile {
  size: number;
  /** Milliseconds since the Unix epoch. */
  mtimeMs: number;
  /** null when it turns out shorter. */
  read(): Promise<Buffer | null>;
  /** From `start` to `end` (inclusive). It closes the file. */
  send(start: number, end: number): Buffer | Readable;
  close(): Promise<void>;
}

export interface SnapshotImage {
  bytes: Buffer;
  /** Capture time, in milliseconds since the Unix epoch. */
  mtimeMs: number;
}

/** Live output of the media role, on whatever node it is (docs/decisions/live-packaging.md#between-nodes). */
export interface LiveSource {
  /** Returns `master.m3u8` or `<rung>.m3u8`; null when there is none. */
  text(streamId: string, name: string): Promise<CachedTextFile | null>;
  /** Resolves with the next change of a text of the stream, or soon. */
  next(streamId: string): Promise<void>;
  /**
   * Returns bytes of a segment, which may be incomplete; null when unavailable. @throws
   * {MediaNodeUnavailableError}
   */
  part(place: SegmentLocation, range: { offset: number; bytes: number }): Promise<Buffer | null>;
  /**
   * Opens a complete file, which never changes; null when there is none. @throws {MediaNodeUnavailableError}
   */
  open(place: SegmentLocation): Promise<OpenedFile | null>;
  /** Returns the latest thumbnail. @throws {MediaNodeUnavailableError} */
  picture(streamId: string): Promise<SnapshotImage | null>;
}

/**
 * Reports whether a name is a single path segment: rungs, epochs and stream IDs contain only these
 * characters, so path traversal is impossible.
 */
export function isSafeName(name: string): boolean {
  return name.length <= 128 && /^[a-z0-9_-]+$/.test(name);
}

export function isLivePlace({ streamId, epoch, rung, file }: SegmentLocation): boolean {
  return [streamId, epoch, rung].every(isSafeName) && /^(?:s_\d{1,12}\.m4s|init\.mp4)$/.test(file);
}
