/** Rules for source URLs and their responses. Pure. */
import type { ImportProvider, ImportStatus } from '../../../platform/db/tables.generated.ts';

/** Reports whether an import neither waits nor runs. */
export function isTerminal(status: ImportStatus): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELED';
}

/** Error codes of videos (docs/concepts/videos.md), and one specific to imports. */
export type ImportErrorCode =
  | 'UNSUPPORTED_FORMAT'
  | 'SIZE_EXCEEDED'
  | 'CORRUPT_INPUT'
  | 'SOURCE_UNREACHABLE'
  | 'QUOTA_EXCEEDED'
  | 'INTERNAL';

/** Failure that ends an import or its current attempt; the message is shown to the owner. */
export class ImportFailure extends Error {
  readonly code: ImportErrorCode;
  /** Whether another try may succeed. */
  readonly isPassing: boolean;

  constructor(code: ImportErrorCode, message: string, isPassing = false) {
    super(message);
    this.name = 'ImportFailure';
    this.code = code;
    this.isPassing = isPassing;
  }
}

const PAGES: readonly { provider: ImportProvider; name: string; hosts: RegExp; files: RegExp }[] = [
  { provider: 'YOUTUBE', name: 'YouTube', hosts: /(^|\.)(youtube(-nocookie)?\.com|youtu\.be)$/, files: /^$/ },
  {
    provider: 'VIMEO',
    name: 'Vimeo',
    hosts: /(^|\.)vimeo\.com$/,
    files: /^\/(progressive_redirect|external)\//,
  },
  { provider: 'TWITCH', name: 'Twitch', hosts: /(^|\.)twitch\.tv$/, files: /^$/ },
];
const MEDIA_FILE = /\.(mp4|m4v|mov|mkv|webm|avi|flv|ts|mts|mpg|mpeg|ogv|3gp|wmv)$/i;
const S3_HOST = /(^|\.)s3([.-][a-z0-9-]+)*\.amazonaws\.com(\.cn)?$/;
const PEERTUBE_PAGE = /^\/(?:w|videos\/(?:watch|embed))\/([A-Za-z0-9-]{8,64})\/?$/;

export interface Source {
  provider: ImportProvider;
  /** Reason why nothing can be fetched from the URL; null when it can be tried. */
  refusal: string | null;
}

/** Classifies a source URL. The files behind pages of YouTube, Vimeo and Twitch cannot be imported. */
export function sourceOf(url: URL): Source {
  const host = url.hostname.toLowerCase();
  const page = PAGES.find(({ hosts }) => hosts.test(host));
  if (page !== undefined) {
    const { provider, name, files } = page;
    if (files.test(url.pathname) || MEDIA_FILE.test(url.pathname)) return { provider, refusal: null };
    const advice = 'Use the URL of the file itself, or download it there and upload it here.';
    return { provider, refusal: `Pages of ${name} cannot be imported. ${advice}` };
  }
  if (S3_HOST.test(host) || url.searchParams.has('X-Amz-Signature')) return { provider: 'S3', refusal: null };
  return { provider: peerTubeId(url) === null ? 'URL' : 'PEERTUBE', refusal: null };
}

/** Returns the video ID of a PeerTube watch page. */
export function peerTubeId(url: URL): string | null {
  return PEERTUBE_PAGE.exec(url.pathname)?.[1] ?? null;
}

const TITLE_LENGTH = 200;

/** Returns the file name without its extension, or the host. */
export function titleOf(url: URL): string {
  const last = url.pathname.split('/').findLast((part) => part !== '') ?? '';
  const name = decoded(last)
    .replace(/\.[A-Za-z0-9]{1,5}$/, '')
    .replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ')
    .trim();
  return [...(name === '' ? url.hostname : name)].slice(0, TITLE_LENGTH / 2).join('');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** State of the bytes already received. */
export interface ReceivedState {
  bytes: number;
  total: number | null;
  validator: string | null;
}

/**
 * Returns the headers that request the missing bytes; none, hence the whole file, when there is no validator.
 */
export function rangeHeaders({ bytes, validator }: ReceivedState): Record<string, string> {
  return bytes > 0 && validator !== null ? { Range: `bytes=${bytes}-`, 'If-Range': validator } : {};
}

export interface Body {
  /** Position of the first byte: the end of the bytes already received, or 0. */
  offset: number;
  /** Size of the whole file; null when the server does not send it. */
  total: number | null;
  validator: string | null;
}

const NO_MEDIA: readonly [RegExp, string][] = [
  [/^(text\/html|application\/xhtml\+xml)$/, 'a web page'],
  [/^(application\/(x-|vnd\.apple\.)mpegurl|audio\/(x-)?mpegurl|application\/dash\+xml)$/, 'a playlist'],
  [/^(application\/([a-z.]+\+)?(json|xml)|text\/(xml|css|javascript))$/, 'data'],
  [/^image\//, 'a picture'],
];

/** Statuses by which a source denies the file: another try would get the same response. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 410, 451]);

/** Returns the failure that a status of the source stands for. */
export function failureOfStatus(server: string, status: number): ImportFailure {
  const isPassing = !FINAL_STATUSES.has(status);
  return new ImportFailure('SOURCE_UNREACHABLE', `${server} returned status ${status}.`, isPassing);
}

/**
 * Determines how a response continues the bytes already received.
 *
 * @returns null when nothing is missing.
 * @throws {ImportFailure}
 */
export function parseResponse(
  status: number,
  headers: ReadonlyMap<string, string>,
  received: ReceivedState,
): Body | null {
  if (status === 416 && received.bytes > 0) return afterUnsatisfied(headers, received);
  if (status !== 200 && status !== 206) {
    throw failureOfStatus('The server', status);
  }
  refuseOthers(headers);
  const validator = validatorOf(headers);
  if (status === 200) return { offset: 0, total: lengthOf(headers), validator };
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '');
  const wasAsked = rangeHeaders(received).Range !== undefined;
  if (!wasAsked || range === null || Number(range[1]) !== received.bytes) {
    throw new ImportFailure(
      'SOURCE_UNREACHABLE',
      'The server returned a different range than requested.',
      true,
    );
  }
  const total = range[2] === '*' ? received.total : Number(range[2]);
  if (received.total !== null && total !== received.total) {
    throw new ImportFailure(
      'SOURCE_UNREACHABLE',
      'The server reported a different length than before.',
      true,
    );
  }
  return { offset: received.bytes, total, validator };
}

function afterUnsatisfied(headers: ReadonlyMap<string, string>, { bytes }: ReceivedState): null {
  if (headers.get('content-range') === `bytes */${bytes}`) return null;
  throw new ImportFailure('SOURCE_UNREACHABLE', 'The file became shorter during the download.', true);
}

function refuseOthers(headers: ReadonlyMap<string, string>): void {
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const kind = NO_MEDIA.find(([types]) => types.test(type))?.[1];
  if (kind !== undefined) {
    throw new ImportFailure('UNSUPPORTED_FORMAT', `The URL returned ${kind} (${type}), not a video file.`);
  }
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') {
    throw new ImportFailure('UNSUPPORTED_FORMAT', `The server sent the file compressed (${encoding}).`);
  }
}

function lengthOf(headers: ReadonlyMap<string, string>): number | null {
  const text = headers.get('content-length') ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** A weak ETag does not identify the exact bytes. */
function validatorOf(headers: ReadonlyMap<string, string>): string | null {
  if (headers.get('accept-ranges') === 'none') return null;
  const etag = headers.get('etag');
  if (etag?.startsWith('"')) return etag;
  return headers.get('last-modified') ?? null;
}

/** Returns the progress of the download in whole percent; 100 is reserved for a complete file. */
export function progressOf(status: ImportStatus, received: number, total: number | null): number {
  if (status === 'PROCESSING' || status === 'COMPLETED') return 100;
  if (total === null || total === 0) return 0;
  return Math.min(99, Math.floor((received / total) * 100));
}
