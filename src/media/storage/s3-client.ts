import type { ReadStream } from 'node:fs';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { openOutputFile } from '../ffmpeg/output.ts';

export interface S3Options {
  bucket: string;
  region: string;
  /** Endpoint of a service other than Amazon's. */
  endpoint?: string | undefined;
  /** Access key; the machine's own role is used if no key pair is set. */
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  /** `https://host/bucket/key` instead of `https://bucket.host/key`. */
  pathStyle: boolean;
  /** Before every key; empty, or ends in a slash. */
  prefix: string;
}

/** Range of a local file. */
export interface FileSpan {
  path: string;
  start: number;
  bytes: number;
}

/** S3 calls that the driver uses; keys are complete, with the prefix. */
export interface S3 {
  readonly client: S3Client;
  readonly bucket: string;
  /** @returns null when there is none. */
  head(Key: string): Promise<{ bytes: number; etag: string } | null>;
  /** @param range such as `bytes=0-99`. @returns null when there is none. */
  get(Key: string, range?: string, signal?: AbortSignal): Promise<S3Content | null>;
  put(Key: string, body: Uint8Array | string | FileSpan, contentType?: string): Promise<void>;
  putPart(Key: string, uploadId: string, number: number, span: FileSpan): Promise<string>;
  list(prefix: string): AsyncGenerator<{ key: string; bytes: number; etag: string }>;
  delete(keys: string[]): Promise<void>;
}

export interface S3Content {
  /** Size of the whole object. */
  bytes: number;
  etag: string;
  body: NodeJS.ReadableStream;
}

const TRIES = 4;

/** Reports whether an error is a response of the service with this status or code. */
export function isServiceError(error: unknown, ...what: (number | string)[]): boolean {
  if (!(error instanceof S3ServiceException)) return false;
  return what.includes(error.name) || what.includes(error.$metadata.httpStatusCode ?? 0);
}

export function openS3(options: S3Options): S3 {
  const { bucket: Bucket, accessKeyId, secretAccessKey } = options;
  const client = new S3Client({
    region: options.region,
    forcePathStyle: options.pathStyle,
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
    maxAttempts: TRIES,
    requestHandler: { connectionTimeout: 5000, socketTimeout: 60_000 },
    // Many compatible services refuse the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

  return {
    client,
    bucket: Bucket,
    async head(Key) {
      const found = await orNull(client.send(new HeadObjectCommand({ Bucket, Key })));
      return found === null ? null : { bytes: found.ContentLength ?? 0, etag: tagOf(found.ETag) };
    },
    async get(Key, Range, abortSignal) {
      const input = { Bucket, Key, ...(Range === undefined ? {} : { Range }) };
      const send = client.send(new GetObjectCommand(input), abortSignal === undefined ? {} : { abortSignal });
      const found = await orNull(send);
      if (found === null) return null;
      if (!isNodeStream(found.Body)) throw new Error('S3 returned no body');
      const total = /\/(\d+)$/.exec(found.ContentRange ?? '')?.[1] ?? found.ContentLength ?? 0;
      return { bytes: Number(total), etag: tagOf(found.ETag), body: found.Body };
    },
    async put(Key, body, ContentType) {
      const type = ContentType === undefined ? {} : { ContentType };
      await sending(body, (Body, ContentLength) =>
        client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength, ...type })),
      );
    },
    async putPart(Key, UploadId, PartNumber, span) {
      const { ETag } = await sending(span, (Body, ContentLength) =>
        client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body, ContentLength })),
      );
      return ETag ?? '';
    },
    async *list(Prefix) {
      let token: string | undefined;
      do {
        const next = token === undefined ? {} : { ContinuationToken: token };
        const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix, ...next }));
        for (const { Key: key = '', Size = 0, ETag } of page.Contents ?? []) {
          yield { key, bytes: Size, etag: tagOf(ETag) };
        }
        token = page.NextContinuationToken;
      } while (token !== undefined);
    },
    async delete(keys) {
      const MOST = 1000;
      for (let at = 0; at < keys.length; at += MOST) {
        const Objects = keys.slice(at, at + MOST).map((Key) => ({ Key }));
        const { Errors = [] } = await client.send(
          new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }),
        );
        const [failed] = Errors.filter(({ Code }) => Code !== 'NoSuchKey');
        if (failed !== undefined) throw new Error(`S3 did not delete ${failed.Key}: ${failed.Code}`);
      }
    },
  };
}

function tagOf(etag: string | undefined): string {
  return (etag ?? '').replaceAll('"', '');
}

function isNodeStream(body: unknown): body is NodeJS.ReadableStream {
  return typeof body === 'object' && body !== null && 'pipe' in body;
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isServiceError(error, 404)) return null;
    throw error;
  }
}

/** Opens the file for each attempt, because the SDK cannot send a stream twice. */
async function sending<T>(
  body: Uint8Array | string | FileSpan,
  send: (body: Uint8Array | string | ReadStream, bytes: number) => Promise<T>,
): Promise<T> {
  if (typeof body === 'string' || body instanceof Uint8Array) return send(body, Buffer.byteLength(body));
  const { path, start, bytes } = body;
  if (bytes === 0) return send('', 0);
  for (let tries = 1; ; tries++) {
    const file = await openOutputFile(path);
    const stream = file.createReadStream({ start, end: start + bytes - 1, highWaterMark: 2 ** 18 });
    try {
      return await send(stream, bytes);
    } catch (error) {
      const isOurs = isServiceError(error, 400, 403, 404, 411);
      if (isOurs || tries === TRIES) throw error;
    } finally {
      stream.destroy();
    }
  }
}
