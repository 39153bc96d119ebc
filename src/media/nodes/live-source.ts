import type { Readable } from 'node:stream';

/** A small file that is replaced as a whole: the same object for as long as the file is the same. */
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

/** A whole file that can be read. */
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
  /** Of the moment that it shows, in milliseconds since the Unix epoch. */
  mtimeMs: number;
}

/** What the media role writes of live streams, wherever that is (docs/decisions/live-packaging.md#between-nodes). */
export interface LiveSource {
  /** `master.m3u8` or `<rung>.m3u8`; null when there is none. */
  text(streamId: string, name: string): Promise<CachedTextFile | null>;
  /** Resolves with the next change of a text of the stream, or soon. */
  next(streamId: string): Promise<void>;
  /** Bytes of a segment, which may not be whole yet; null when they are not there. @throws {LiveNodeAway} */
  part(place: SegmentLocation, range: { offset: number; bytes: number }): Promise<Buffer | null>;
  /** A whole file, which never changes; null when there is none. @throws {LiveNodeAway} */
  open(place: SegmentLocation): Promise<OpenedFile | null>;
  /** The latest picture. @throws {LiveNodeAway} */
  picture(streamId: string): Promise<SnapshotImage | null>;
}

/** One part of a path; rungs, epochs and stream ids are made of these letters alone, so nothing can climb. */
export function isSafeName(name: string): boolean {
  return name.length <= 128 && /^[a-z0-9_-]+$/.test(name);
}

export function isLivePlace({ streamId, epoch, rung, file }: SegmentLocation): boolean {
  return [streamId, epoch, rung].every(isSafeName) && /^(?:s_\d{1,12}\.m4s|init\.mp4)$/.test(file);
}
