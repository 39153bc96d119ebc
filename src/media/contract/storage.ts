/** Part of a file; `end` is inclusive. */
export interface ByteSpan {
  start: number;
  end: number;
}

export interface BlobInfo {
  key: string;
  sizeBytes: number;
  /** Changes when the content does; without quotes. */
  etag: string;
}

/**
 * Where media files are kept: a disk or an S3-compatible service (docs/decisions/storage-and-quota.md#keys).
 * Keys are made of `[A-Za-z0-9._-]` and single slashes, and no part of one begins with a dot; the drivers
 * refuse others. What a writing function has returned from survives a crash; a key is never seen half-written.
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
   * @throws {MediaFileError} when a link or anything but a file of ours lies there: a program has left it.
   */
  putFile(key: string, path: string, contentType: string): Promise<BlobInfo>;
  /** null when there is none. The stream holds resources: read or destroy it. */
  open(key: string, span?: ByteSpan): Promise<(BlobInfo & { body: NodeJS.ReadableStream }) | null>;
  /** The whole of a small file; null when there is none. */
  read(key: string): Promise<Buffer | null>;
  head(key: string): Promise<BlobInfo | null>;
  list(prefix: string): AsyncIterable<BlobInfo>;
  /** Missing ones are no error. */
  delete(key: string): Promise<void>;
  /** Everything whose key begins with `prefix`, which ends in a slash; open partial files below it too. */
  deletePrefix(prefix: string): Promise<void>;
  /** Where the file is on this machine's disk, for programs that read files; null on S3. */
  localPath(key: string): string | null;
  /** Makes the file readable under a local path in `dir` (the stored one itself on a disk). */
  toLocalFile(key: string, dir: string, signal?: AbortSignal): Promise<string>;
  /**
   * An address of the store that a client may GET for `ttlSec`; null when it must come through us.
   *
   * @param sentAs headers of the answer; those of the stored file where absent.
   */
  signedUrl(
    key: string,
    ttlSec: number,
    sentAs?: { disposition: string; contentType: string },
  ): Promise<string | null>;
  /** Files that arrive in pieces, over days and crashes. */
  readonly partials: PartialFiles;
}

/**
 * A file that is being received. `state` belongs to the driver: the caller stores what the functions return and
 * hands it in again. `sizeBytes` is what is durable; after any crash it is exact.
 */
export interface PartialFiles {
  create(key: string, contentType: string): Promise<PartialState>;
  /** What is there, asked of the storage itself. */
  inspect(key: string, state: PartialState): Promise<PartialState>;
  /**
   * Appends `content` at `offset`, which must be the size, without holding it in memory. When the source breaks
   * off, what came is kept and the function returns; `onDurable` reports progress on the way. With a `digest` it
   * is all or nothing, and nothing ends in a `DigestMismatch`. The source may use the memory of a chunk again once
   * the next one is asked for.
   */
  append(
    key: string,
    state: PartialState,
    offset: number,
    content: AsyncIterable<Uint8Array | string>,
    options?: { onDurable?: (state: PartialState) => void; digest?: ContentDigest },
  ): Promise<PartialState>;
  /** Makes the file whole under its key; idempotent. */
  complete(key: string, state: PartialState): Promise<BlobInfo>;
  abort(key: string, state: PartialState): Promise<void>;
}

/** What the bytes of one `append` must hash to. */
export interface ContentDigest {
  algorithm: 'md5' | 'sha1' | 'sha256';
  value: Buffer;
}

/** The content of an `append` was other than its digest promised, or broke off; none of it was kept. */
export class DigestMismatchError extends Error {}

export interface PartialState {
  sizeBytes: number;
  /** The driver's own: a multipart id, part numbers. JSON. */
  driver: Record<string, unknown>;
}
