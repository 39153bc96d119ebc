import { badRequest } from '../../../kernel/errors.ts';
import { MAX_FILE_BYTES } from '../../../kernel/plans.ts';

/** Seven days after the last byte a session ends (docs/concepts/uploads.md). */
export const EXPIRES_MS = 7 * 86_400_000;
/** The most that one PUT brings (docs/concepts/uploads.md). */
export const MAX_PUT_BYTES = 5 * 2 ** 30;
/** Recommended size of one PATCH for clients that split their file: one part of the store. */
export const CHUNK_BYTES = 64 * 2 ** 20;

const TITLE_MAX = 200;

/** Returns the file name without folder and extension; a video always has a title. */
export function titleOf(filename: string): string {
  const name = filename.split(/[/\\]/).at(-1) ?? '';
  const title = name.replace(/(?<=.)\.[A-Za-z0-9]{1,8}$/, '').trim();
  return [...(title === '' ? 'Untitled' : title)].slice(0, TITLE_MAX).join('').trim();
}

/**
 * Parses the page origin that may upload, in the spelling of browsers.
 *
 * @throws {AppError} BAD_REQUEST, field `corsOrigin`.
 */
export function checkedOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== text.replace(/\/$/, '')) {
    throw badRequest('corsOrigin', 'corsOrigin must be an origin, such as https://studio.example.com.');
  }
  return url.origin;
}

const WHOLE = /^(0|[1-9]\d{0,15})$/;

/** Parses a byte count in a header. */
export function byteCount(header: string, value: string | string[] | undefined): number | null {
  if (value === undefined) return null;
  if (typeof value !== 'string' || !WHOLE.test(value) || !Number.isSafeInteger(Number(value))) {
    throw badRequest(header, `${header} must be a number of bytes.`);
  }
  return Number(value);
}

/**
 * @throws {AppError} BAD_REQUEST when `bytes` is less than 1 or exceeds the maximum size of a video file
 *   (docs/concepts/plans.md).
 */
export function checkedSize(field: string, bytes: number): number {
  if (bytes < 1 || bytes > MAX_FILE_BYTES) {
    throw badRequest(field, `${field} must be 1 to ${MAX_FILE_BYTES} bytes.`);
  }
  return bytes;
}

const DIGEST_BYTES = { md5: 16, sha1: 20, sha256: 32 } as const;
type Algorithm = keyof typeof DIGEST_BYTES;
export const CHECKSUM_ALGORITHMS: readonly string[] = Object.keys(DIGEST_BYTES);

function isAlgorithm(name: string): name is Algorithm {
  return Object.hasOwn(DIGEST_BYTES, name);
}

/**
 * tus `Upload-Checksum`: the algorithm, a space, and the digest in base64.
 *
 * @throws {AppError} BAD_REQUEST, field `Upload-Checksum`.
 */
export function parseChecksum(
  header: string | string[] | undefined,
): { algorithm: Algorithm; value: Buffer } | null {
  if (header === undefined) return null;
  const [name = '', digest = '', ...rest] = String(header).split(' ');
  const algorithm = name.toLowerCase();
  const value = Buffer.from(digest, 'base64');
  if (!isAlgorithm(algorithm) || rest.length > 0 || value.length !== DIGEST_BYTES[algorithm]) {
    const known = CHECKSUM_ALGORITHMS.join(', ');
    throw badRequest(
      'Upload-Checksum',
      `Upload-Checksum must be one of ${known}, a space and a base64 digest.`,
    );
  }
  return { algorithm, value };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * tus `Upload-Metadata`: comma-separated pairs of a key and a value in base64; a value may be missing.
 *
 * @throws {AppError} BAD_REQUEST, field `Upload-Metadata`.
 */
export function parseMetadata(header: string | string[] | undefined): Map<string, string> {
  const values = new Map<string, string>();
  for (const pair of header === undefined || header === '' ? [] : String(header).split(',')) {
    const [key = '', value = '', ...rest] = pair.trim().split(' ');
    if (!/^[\x21-\x2b\x2d-\x7e]+$/.test(key) || rest.length > 0 || values.has(key)) throw badMetadata();
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw badMetadata();
    const text = decoded(value);
    // PostgreSQL has no NUL in text.
    if (text === null || text.includes('\0')) throw badMetadata();
    values.set(key, text);
  }
  return values;
}

function decoded(base64: string): string | null {
  try {
    return utf8.decode(Buffer.from(base64, 'base64'));
  } catch {
    return null;
  }
}

function badMetadata() {
  return badRequest(
    'Upload-Metadata',
    'Upload-Metadata must be key-value pairs with base64-encoded UTF-8 values.',
  );
}

export interface ContentRange {
  /** Null queries the offset of the upload: only stars before the slash. */
  start: number | null;
  end: number;
  total: number | null;
}

/**
 * Parses the `Content-Range` of a PUT.
 *
 * @throws {AppError} BAD_REQUEST, field `Content-Range`.
 */
export function parseContentRange(header: string | undefined): ContentRange | null {
  if (header === undefined) return null;
  const match = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/.exec(header);
  const [, start, end, total] = match ?? [];
  const range = {
    start: start === undefined ? null : Number(start),
    end: Number(end ?? 0),
    total: total === undefined || total === '*' ? null : Number(total),
  };
  const isBackward = range.start !== null && range.end < range.start;
  if (
    match === null ||
    isBackward ||
    (range.total !== null && range.end >= range.total && range.start !== null)
  ) {
    throw badRequest(
      'Content-Range',
      'Content-Range must look like "bytes 1000-1999/5000" or "bytes */5000".',
    );
  }
  return range;
}
