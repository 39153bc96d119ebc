import { createInterface } from 'node:readline';
import { PassThrough, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { BlobStore } from '../media/contract/index.ts';
import {
  createHashingStream,
  type Manifest,
  type MediaFile,
  mediaListKey,
  parseMediaFile,
  tableKey,
} from './layout.ts';

/** Expected properties of a file in a backup, according to the manifest or the list. */
export interface ExpectedFile {
  key: string;
  sizeBytes: number;
  sha256: string;
  isCompressed: boolean;
}

/** Something in a backup is missing or was changed. The message names it. */
export class DamagedError extends Error {}

/** Writes a file of a backup, plain, into `into`, and ends it. @throws {DamagedError} after the last byte. */
export async function readVerified(target: BlobStore, expected: ExpectedFile, into: Writable): Promise<void> {
  await read(target, expected, into).catch(async (error: unknown) => {
    // The consumer may reject damaged data before the end of the file is reached.
    if (!(error instanceof DamagedError)) await read(target, expected, discardStream());
    throw error;
  });
}

/** Takes all, and keeps nothing. */
export function discardStream(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

async function read(target: BlobStore, expected: ExpectedFile, into: Writable): Promise<void> {
  const { key, sizeBytes, sha256, isCompressed } = expected;
  const file = await target.open(key);
  if (file === null) throw new DamagedError(`${key} is missing`);
  const measured = createHashingStream();
  const plain = isCompressed ? createZstdDecompress() : new PassThrough();
  await pipeline(file.body, measured, plain, into).catch((error: unknown) => {
    // zstd finds before the end that it is none of its own.
    if (isBroken(error)) throw new DamagedError(`${key} is damaged`);
    throw error;
  });
  if (measured.sizeBytes !== sizeBytes || measured.digest() !== sha256)
    throw new DamagedError(`${key} is damaged`);
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ZSTD_');
}

export function tableOf({ id, tables }: Manifest, name: string): ExpectedFile {
  const table = tables.find((one) => one.name === name);
  if (table === undefined) throw new Error(`the backup ${id} has no table ${name}`);
  return {
    key: tableKey(id, name),
    sizeBytes: table.sizeBytes,
    sha256: table.sha256,
    isCompressed: true,
  };
}

export function mediaListOf({ id, media }: Manifest): ExpectedFile {
  return { key: mediaListKey(id), sizeBytes: media.listBytes, sha256: media.sha256, isCompressed: true };
}

/** The media files of a whole backup. */
export async function* readMediaList(target: BlobStore, id: string): AsyncGenerator<MediaFile> {
  const file = await target.open(mediaListKey(id));
  if (file === null) throw new DamagedError(`${mediaListKey(id)} is missing`);
  const plain = createZstdDecompress();
  const failed = pipeline(file.body, plain).catch((error: unknown) => plain.destroy(asError(error)));
  for await (const line of createInterface({ input: plain, crlfDelay: Number.POSITIVE_INFINITY })) {
    yield parseMediaFile(line, id);
  }
  await failed;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
