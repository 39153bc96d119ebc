import { createWriteStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import type { BlobInfo, PartialFiles, PartialState } from '../contract/index.ts';
import { writeAt } from './disk-files.ts';
import { checkKey } from './keys.ts';
import { untilError } from './resumable-source.ts';
import { isServiceError, type S3 } from './s3-client.ts';
import { spoolVerified } from './spool.ts';
import type { TempDir } from './temp.ts';

interface Parts {
  s3: S3;
  prefix: string;
  temp: TempDir;
  partBytes: number;
  /** Returns the complete object, once it exists. */
  head(key: string): Promise<BlobInfo | null>;
}

interface StoredPart {
  PartNumber: number;
  ETag: string;
  bytes: number;
}

/**
 * Stores partial files as multipart uploads. A part is uploaded when it is full; the remainder of a chunk is
 * stored as the
 * *tail*, named after the part it begins. Parts and tail are the only state: a tail is valid exactly while
 * its part is missing.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: an object of short methods around one bucket.
export function createS3Partials(options: Parts): PartialFiles & { folderOf(folder: string): string } {
  const { s3, prefix, temp, head } = options;
  const { client, bucket: Bucket } = s3;
  const nameOf = (key: string) => prefix + checkKey(key);
  const folderOf = (folder: string) => `${prefix}.partial/${folder}`;
  const tailOf = (key: string, part: number) => folderOf(`${checkKey(key)}/tail-${part}`);

  /** Lists the parts; null when the service no longer knows the upload. */
  async function partsOf(key: string, UploadId: string): Promise<StoredPart[] | null> {
    const parts: StoredPart[] = [];
    let marker: string | undefined;
    do {
      const from = marker === undefined ? {} : { PartNumberMarker: marker };
      const command = new ListPartsCommand({ Bucket, Key: nameOf(key), UploadId, ...from });
      const page = await client.send(command).catch(unlessGone);
      if (page === null) return null;
      for (const { PartNumber = 0, ETag = '', Size = 0 } of page.Parts ?? []) {
        if (PartNumber === parts.length + 1) parts.push({ PartNumber, ETag, bytes: Size });
      }
      marker = page.IsTruncated === true ? page.NextPartNumberMarker : undefined;
    } while (marker !== undefined);
    return parts;
  }

  async function inspect(key: string, state: PartialState): Promise<PartialState> {
    const uploadId = uploadIdOf(state);
    const parts = await partsOf(key, uploadId);
    if (parts === null) return stateOf(uploadId, 0, (await head(key))?.sizeBytes ?? 0);
    const tail = await s3.head(tailOf(key, parts.length + 1));
    return stateOf(uploadId, parts.length, sum(parts) + (tail?.bytes ?? 0), tail?.bytes ?? 0);
  }

  return {
    folderOf,
    inspect,
    async create(key, ContentType) {
      const command = new CreateMultipartUploadCommand({ Bucket, Key: nameOf(key), ContentType });
      const { UploadId } = await client.send(command);
      if (UploadId === undefined) throw new Error('S3 did not start an upload');
      return stateOf(UploadId, 0, 0);
    },
    async append(key, before, offset, content, { onDurable, digest } = {}) {
      const state = await inspect(key, before);
      if (state.sizeBytes !== offset) {
        throw new Error(`${key} has ${state.sizeBytes} bytes and not ${offset}`);
      }
      const source = digest === undefined ? untilError(content) : spoolVerified(content, digest, temp);
      const writer = new PartWriter(options, {
        state,
        name: nameOf(key),
        tail: (part) => tailOf(key, part),
        onDurable: onDurable ?? (() => {}),
      });
      try {
        await writer.begin();
        for await (const chunk of source) await writer.write(chunk);
        return await writer.end();
      } finally {
        await writer.close();
      }
    },
    async complete(key, state) {
      const UploadId = uploadIdOf(state);
      const parts = await partsOf(key, UploadId);
      if (parts !== null) {
        const number = parts.length + 1;
        const last = await liftTail(options, {
          name: nameOf(key),
          tail: tailOf(key, number),
          UploadId,
          number,
        });
        if (last !== null) parts.push(last);
        const Parts = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag }));
        const input = { Bucket, Key: nameOf(key), UploadId, MultipartUpload: { Parts } };
        await client.send(new CompleteMultipartUploadCommand(input)).catch(unlessGone);
      }
      const made = await head(key);
      if (made === null) throw new Error(`nothing was received for ${key}`);
      await removeTails(s3, folderOf(`${key}/`));
      return made;
    },
    async abort(key, state) {
      const input = { Bucket, Key: nameOf(key), UploadId: uploadIdOf(state) };
      await client.send(new AbortMultipartUploadCommand(input)).catch(unlessGone);
      await removeTails(s3, folderOf(`${checkKey(key)}/`));
    },
  };
}

/** Another process was faster: nothing is left to do. */
function unlessGone(error: unknown): null {
  if (isServiceError(error, 404, 'NoSuchUpload')) return null;
  throw error;
}

function stateOf(uploadId: string, parts: number, sizeBytes: number, tailBytes = 0): PartialState {
  return { sizeBytes, driver: { uploadId, parts, tailBytes } };
}

function uploadIdOf({ driver }: PartialState): string {
  if (typeof driver.uploadId !== 'string') throw new Error('invalid state of an S3 upload');
  return driver.uploadId;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function sum(parts: readonly StoredPart[]): number {
  return parts.reduce((total, { bytes }) => total + bytes, 0);
}

async function removeTails(s3: S3, folder: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of s3.list(folder)) keys.push(key);
  if (keys.length > 0) await s3.delete(keys);
}

/** Copies a tail into a local file. @returns its bytes. */
async function fetchTail(s3: S3, tail: string, path: string): Promise<number> {
  const found = await s3.get(tail);
  if (found === null) return 0;
  await pipeline(found.body, createWriteStream(path));
  return found.bytes;
}

/** Uploads the tail as the last part. */
async function liftTail(
  { s3, temp }: Parts,
  { name, tail, UploadId, number }: { name: string; tail: string; UploadId: string; number: number },
): Promise<StoredPart | null> {
  const path = await temp.name();
  try {
    const bytes = await fetchTail(s3, tail, path);
    if (bytes === 0) return null;
    const ETag = await s3.putPart(name, UploadId, number, { path, start: 0, bytes });
    return { PartNumber: number, ETag, bytes };
  } finally {
    await rm(path, { force: true });
  }
}

interface Target {
  state: PartialState;
  name: string;
  tail(part: number): string;
  onDurable(state: PartialState): void;
}

interface OpenPart {
  path: string;
  file: FileHandle;
  bytes: number;
}

/** Collects parts in local files; one is sent while the next one fills. */
class PartWriter {
  readonly #options: Parts;
  readonly #target: Target;
  readonly #uploadId: string;
  #parts: number;
  /** Durable. */
  #sizeBytes: number;
  /** Bytes of the tail, while its part is missing. */
  #tailBytes: number;
  #open: OpenPart | null = null;
  #sending: Promise<void> = Promise.resolve();
  #failure: unknown = null;

  constructor(options: Parts, target: Target) {
    this.#options = options;
    this.#target = target;
    this.#uploadId = uploadIdOf(target.state);
    this.#parts = numberOf(target.state.driver.parts);
    this.#tailBytes = numberOf(target.state.driver.tailBytes);
    this.#sizeBytes = target.state.sizeBytes;
  }

  /** Resumes at the end of the tail. */
  async begin(): Promise<void> {
    if (this.#tailBytes === 0) return;
    const path = await this.#options.temp.name();
    const bytes = await fetchTail(this.#options.s3, this.#target.tail(this.#parts + 1), path);
    this.#open = { path, file: await open(path, 'r+'), bytes };
    if (bytes !== this.#tailBytes) throw new Error('the tail of the upload has changed');
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#failure !== null) throw this.#failure;
      this.#open ??= await this.#create();
      const part = this.#open;
      const taken = rest.subarray(0, this.#options.partBytes - part.bytes);
      await writeAt(part.file, taken, part.bytes);
      part.bytes += taken.length;
      rest = rest.subarray(taken.length);
      if (part.bytes === this.#options.partBytes) await this.#send(part);
    }
  }

  async #create(): Promise<OpenPart> {
    const path = await this.#options.temp.name();
    return { path, file: await open(path, 'wx'), bytes: 0 };
  }

  /** Starts to upload a full part, after the previous one. */
  async #send(part: OpenPart): Promise<void> {
    this.#open = null;
    await this.#sending;
    if (this.#failure === null) {
      this.#sending = this.#put(part).catch((error: unknown) => {
        this.#failure = error;
      });
      return;
    }
    await discard(part);
  }

  async #put(part: OpenPart): Promise<void> {
    const { s3 } = this.#options;
    const { name, onDurable } = this.#target;
    const span = { path: part.path, start: 0, bytes: part.bytes };
    try {
      await s3.putPart(name, this.#uploadId, this.#parts + 1, span);
    } finally {
      await discard(part);
    }
    this.#parts += 1;
    this.#sizeBytes += part.bytes - this.#tailBytes;
    this.#tailBytes = 0;
    onDurable(this.#state());
  }

  /** Stores the remainder as the tail. */
  async end(): Promise<PartialState> {
    await this.#sending;
    if (this.#failure !== null) throw this.#failure;
    const part = this.#open;
    if (part !== null && part.bytes > this.#tailBytes) {
      const span = { path: part.path, start: 0, bytes: part.bytes };
      await this.#options.s3.put(this.#target.tail(this.#parts + 1), span);
      this.#sizeBytes += part.bytes - this.#tailBytes;
      this.#tailBytes = part.bytes;
    }
    return this.#state();
  }

  async close(): Promise<void> {
    await this.#sending;
    if (this.#open !== null) await discard(this.#open);
  }

  #state(): PartialState {
    return stateOf(this.#uploadId, this.#parts, this.#sizeBytes, this.#tailBytes);
  }
}

async function discard({ path, file }: OpenPart): Promise<void> {
  await file.close();
  await rm(path, { force: true });
}
