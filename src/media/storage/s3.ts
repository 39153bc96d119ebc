import { createWriteStream } from 'node:fs';
import { open, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { BlobInfo, BlobStore, ByteSpan } from '../contract/index.ts';
import { openOutputFile } from '../ffmpeg/output.ts';
import { writeAt } from './disk-files.ts';
import { checkFolder, checkKey, checkPrefix } from './keys.ts';
import { isServiceError, openS3, type S3, type S3Options } from './s3-client.ts';
import { createS3Partials } from './s3-partials.ts';
import { createTempDir } from './temp.ts';

export interface S3StoreOptions extends S3Options {
  /** Folder for parts waiting to be uploaded. */
  tmpDir: string;
  /** 64 MiB, of which 100 GB take 1600 of S3's 10,000; at least 5 MiB. */
  partBytes?: number;
  /** Hand out addresses of the service itself. */
  signUrls: boolean;
}

const PART_BYTES = 64 * 2 ** 20;
const PARALLEL_PARTS = 3;

/** Objects of one bucket under their keys (docs/decisions/storage-and-quota.md#keys). */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: an object of short methods around one bucket.
export function createS3Store(options: S3StoreOptions): BlobStore {
  const { prefix } = options;
  const temp = createTempDir(options.tmpDir);
  const s3 = openS3(options);
  const partBytes = options.partBytes ?? PART_BYTES;
  const nameOf = (key: string) => prefix + checkKey(key);
  const partials = createS3Partials({ s3, prefix, temp, partBytes, head });

  async function head(key: string): Promise<BlobInfo | null> {
    const found = await s3.head(nameOf(key));
    return found === null ? null : { key, sizeBytes: found.bytes, etag: found.etag };
  }

  async function existing(key: string): Promise<BlobInfo> {
    const info = await head(key);
    if (info === null) throw new Error(`${key} is not in the bucket`);
    return info;
  }

  async function storeFile(key: string, path: string, contentType: string): Promise<BlobInfo> {
    const file = await openOutputFile(path);
    const { size } = await file.stat().finally(() => file.close());
    if (size <= partBytes) await s3.put(nameOf(key), { path, start: 0, bytes: size }, contentType);
    else await putInParts(s3, { Key: nameOf(key), path, size, partBytes, contentType });
    return existing(key);
  }

  return {
    partials,
    async put(key, content, contentType) {
      if (typeof content === 'string' || content instanceof Uint8Array) {
        await s3.put(nameOf(key), content, contentType);
        return existing(key);
      }
      const path = await temp.name();
      try {
        await spool(content, path);
        return await storeFile(key, path, contentType);
      } finally {
        await rm(path, { force: true });
      }
    },
    async putFile(key, path, contentType) {
      const info = await storeFile(key, path, contentType);
      await unlink(path);
      return info;
    },
    async open(key, span) {
      try {
        const found = await s3.get(nameOf(key), rangeOf(span));
        return found === null ? null : { key, sizeBytes: found.bytes, etag: found.etag, body: found.body };
      } catch (error) {
        // A range after the end is empty, as in a file.
        if (!isServiceError(error, 416)) throw error;
        return { ...(await existing(key)), body: Readable.from([]) };
      }
    },
    async read(key) {
      const found = await s3.get(nameOf(key));
      return found === null ? null : buffer(found.body);
    },
    head,
    async *list(wanted) {
      for await (const { key, bytes, etag } of s3.list(prefix + checkPrefix(wanted))) {
        yield { key: key.slice(prefix.length), sizeBytes: bytes, etag };
      }
    },
    delete: (key) => s3.delete([nameOf(key)]),
    async deletePrefix(folder) {
      await deleteAll(s3, prefix + checkFolder(folder));
      await abortAll(s3, prefix + folder);
      await deleteAll(s3, partials.folderOf(folder));
    },
    localPath: () => null,
    async toLocalFile(key, dir, signal) {
      const found = await s3.get(nameOf(key), undefined, signal);
      if (found === null) throw new Error(`${key} is not in the bucket`);
      const path = join(dir, key.slice(key.lastIndexOf('/') + 1));
      await pipeline(found.body, createWriteStream(path), signal === undefined ? {} : { signal });
      return path;
    },
    async signedUrl(key, ttlSec, sentAs) {
      if (!options.signUrls) return null;
      const command = new GetObjectCommand({
        Bucket: s3.bucket,
        Key: nameOf(key),
        ...(sentAs && {
          ResponseContentDisposition: sentAs.disposition,
          ResponseContentType: sentAs.contentType,
        }),
      });
      return getSignedUrl(s3.client, command, { expiresIn: ttlSec });
    },
  };
}

function rangeOf(span: ByteSpan | undefined): string | undefined {
  return span === undefined ? undefined : `bytes=${span.start}-${span.end}`;
}

/** Into a local file: the service wants to know the length first. */
async function spool(content: NodeJS.ReadableStream, path: string): Promise<void> {
  const file = await open(path, 'wx');
  try {
    let position = 0;
    for await (const chunk of content) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      await writeAt(file, bytes, position);
      position += bytes.length;
    }
  } finally {
    await file.close();
  }
}

interface LargeFile {
  Key: string;
  path: string;
  size: number;
  partBytes: number;
  contentType: string;
}

/** Uploads a few parts at a time; a failure leaves nothing behind. */
async function putInParts(s3: S3, { Key, path, size, partBytes, contentType }: LargeFile): Promise<void> {
  const { bucket: Bucket, client } = s3;
  const made = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType: contentType }));
  const UploadId = made.UploadId ?? '';
  const count = Math.ceil(size / partBytes);
  const parts: { PartNumber: number; ETag: string }[] = [];
  let next = 1;
  const work = async () => {
    while (next <= count) {
      const PartNumber = next++;
      const start = (PartNumber - 1) * partBytes;
      const span = { path, start, bytes: Math.min(partBytes, size - start) };
      parts.push({ PartNumber, ETag: await s3.putPart(Key, UploadId, PartNumber, span) });
    }
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL_PARTS }, work));
    const Parts = parts.toSorted((a, b) => a.PartNumber - b.PartNumber);
    await client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
    );
  } catch (error) {
    next = count + 1;
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => {});
    throw error;
  }
}

const BATCH = 1000;

async function deleteAll(s3: S3, folder: string): Promise<void> {
  let keys: string[] = [];
  for await (const { key } of s3.list(folder)) {
    keys.push(key);
    if (keys.length < BATCH) continue;
    await s3.delete(keys);
    keys = [];
  }
  await s3.delete(keys);
}

/** Aborts the multipart uploads below a folder. */
async function abortAll({ client, bucket: Bucket }: S3, Prefix: string): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
  for (const { Key, UploadId } of Uploads) {
    if (Key?.startsWith(Prefix))
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  }
}
