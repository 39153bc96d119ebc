import { GuardError, type Outbound, OutboundError } from '../../../platform/outbound/index.ts';
import { ReadingError } from './ics-lines.ts';

/** Calendar file with the validators of its HTTP version. */
export interface FetchedCalendar {
  bytes: Buffer;
  etag: string | null;
  lastModified: string | null;
}

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const IDLE_MS = 5000;
const TOTAL_MS = 10_000;

/**
 * Downloads a calendar.
 *
 * @param request.known the version that need not be sent again.
 * @returns null when that version is current.
 * @throws {ReadingError} with a message for the owner; {GuardError}, {OutboundError}.
 */
export async function fetchCalendar(
  fetcher: Pick<Outbound, 'stream'>,
  request: { url: string; known: Pick<FetchedCalendar, 'etag' | 'lastModified'> | null },
): Promise<FetchedCalendar | null> {
  const { etag = null, lastModified = null } = request.known ?? {};
  const deadline = AbortSignal.timeout(TOTAL_MS);
  const answer = await fetcher.stream({
    url: request.url,
    headers: {
      Accept: 'text/calendar, */*;q=0.5',
      ...(etag === null ? {} : { 'If-None-Match': etag }),
      ...(lastModified === null ? {} : { 'If-Modified-Since': lastModified }),
    },
    maxRedirects: MAX_REDIRECTS,
    idleMs: IDLE_MS,
    signal: deadline,
  });
  if (answer.status === 304 && request.known !== null) {
    answer.discard();
    return null;
  }
  if (answer.status !== 200) {
    answer.discard();
    throw new ReadingError(`The server returned status ${answer.status} instead of a calendar.`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= MAX_BYTES) continue;
    answer.discard();
    throw new ReadingError('The calendar is larger than 5 MB.');
  }
  return {
    bytes: Buffer.concat(chunks),
    etag: headerOf(answer.headers.get('etag')),
    lastModified: headerOf(answer.headers.get('last-modified')),
  };
}

/** Returns a header value that can be sent back later, or null. */
function headerOf(value: string | undefined): string | null {
  return value !== undefined && /^[\x20-\x7e]{1,500}$/.test(value) ? value : null;
}

/** Returns the message for the owner of a calendar that could not be read; null for internal errors. */
export function calendarErrorMessage(error: unknown): string | null {
  if (error instanceof ReadingError) return error.message;
  if (error instanceof GuardError) return `The URL cannot be used: ${error.reason}.`;
  if (error instanceof OutboundError) return `The server cannot be reached: ${error.message}.`;
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  return isLate ? 'The server took too long to send the calendar.' : null;
}
