/** Part of a file; `end` is inclusive. */
export interface ByteSpan {
  start: number;
  end: number;
}

export interface BlobInfo {
  key: string;
  sizeBytes: number;
  /** Entity tag that changes with the content; without quotes. */
  etag: string;
}

/**
 * Storage of media files: a disk or an S3-compatible service (docs/decisions/storage-and-quota.md#keys). Keys
 * consist of `[A-Za-z0-9._-]` and single slashes, and no path segment begins with a dot; the drivers reject
 * others. Data is durable once a write function has returned; a partially written key is never visible.
 */
export interface BlobStore {
  put(
    key: string,
    content: NodeJS.ReadableStream | Uint8Array | string,
    contentType: string,
  ): Promise<BlobInfo>;
  /**
   * Stores a local file and removes it: on the same disk it is moved, never copied.
   *
   * @throws {MediaFileError} when the path is a link or anything but a regular file of ours: a program has
   *   replaced it.
   */
  putFile(key: string, path: string, contentType: string): Promise<BlobInfo>;
  /** Opens a file; null when there is none. The stream holds resources: read or destroy it. */
  open(key: string, span?: ByteSpan): Promise<(BlobInfo & { body: NodeJS.ReadableStream }) | null>;
  /** Reads a small file; null when there is none. */
  read(key: string): Promise<Buffer | null>;
  head(key: string): Promise<BlobInfo | null>;
  list(prefix: string): AsyncIterable<BlobInfo>;
  /** Deletes the file; succeeds when it does not exist. */
  delete(key: string): Promise<void>;
  /** Deletes all keys that begin with `prefix`, which ends in a slash, including open partial files. */
  deletePrefix(prefix: string): Promise<void>;
  /** Returns the path of the file on this machine's disk, for programs that read files; null on S3. */
  localPath(key: string): string | null;
  /**
   * Provides the file under a local path in `dir`, or the path of the stored file itself when the store is a
   * disk.
   */
  toLocalFile(key: string, dir: string, signal?: AbortSignal): Promise<string>;
  /**
   * Returns a URL of the store from which a client may GET the file for `ttlSec`; null when the server must
   * proxy it.
   *
   * @param sentAs response headers; those of the stored file when absent.
   */
  signedUrl(
    key: string,
    ttlSec: number,
    sentAs?: { disposition: string; contentType: string },
  ): Promise<string | null>;
  /** Files that arrive in chunks, across days and crashes. */
  readonly partials: PartialFiles;
}

/**
 * File that is being received. `state` belongs to the driver: the caller stores the returned state and passes
 * it to the next call. `sizeBytes` is the durable size; it is exact after any crash.
 */
export interface PartialFiles {
  create(key: string, contentType: string): Promise<PartialState>;
  /** Queries the actual state from the storage. */
  inspect(key: string, state: PartialState): Promise<PartialState>;
  /**
   * Appends `content` at `offset`, which must equal the size, without buffering it in memory. When the source
   * breaks off, the received bytes are stored and the function returns; `onDurable` reports progress. With a
   * `digest` the write is atomic, and a mismatch rejects with `DigestMismatchError`. The source may reuse the
   * memory of a chunk when the next one is requested.
   */
  append(
    key: string,
    state: PartialState,
    offset: number,
    content: AsyncIterable<Uint8Array | string>,
    options?: { onDurable?: (state: PartialState) => void; digest?: ContentDigest },
  ): Promise<PartialState>;
  /** Completes the file under its key; idempotent. */
  complete(key: string, state: PartialState): Promise<BlobInfo>;
  abort(key: string, state: PartialState): Promise<void>;
}

/** Expected hash of the bytes of one `append`. */
export interface ContentDigest {
  algorithm: 'md5' | 'sha1' | 'sha256';
  value: Buffer;
}

/** The content of an `append` did not match its digest, or broke off; none of it was stored. */
export class DigestMismatchError extends Error {}

export interface PartialState {
  sizeBytes: number;
  /** State of the driver: a multipart ID, part numbers. JSON. */
  driver: Record<string, unknown>;
}
