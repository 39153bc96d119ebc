import { constants, fstatSync, openSync } from 'node:fs';
import { type DestinationStream, pino } from 'pino';
import { isUnavailable } from './db/unavailable-error.ts';

/** Logger of the program, implemented by pino. */
export type Logger = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child'>;

/** Property names whose values never reach a log line, at any level of the logged object. */
const SECRET_NAMES = [
  'authorization',
  'x-api-key',
  'x-user-token',
  'cookie',
  'password',
  'key',
  'apiKey',
  'streamKey',
  'secret',
  'signingSecret',
  'token',
];

const redactPaths = SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);

const FLUSH_BYTES = 16_384;
const FLUSH_MS = 250;
/** Bytes buffered while the reader is blocked; later lines are dropped. */
const MAX_BUFFERED_BYTES = 2 ** 24;
/** Time without progress after which a process that ends stops waiting for its log reader. */
const READER_TIMEOUT_MS = 1000;

let standardOutput: DestinationStream | undefined;

/** Lines are gathered for a moment: a write for each would cost a request as much as its query. */
function destination(): DestinationStream {
  if (standardOutput === undefined) {
    const reader = watchReader();
    const stream = pino.destination({
      fd: withoutWaiting(1),
      sync: false,
      minLength: FLUSH_BYTES,
      maxWrite: 2 * FLUSH_BYTES,
      periodicFlush: FLUSH_MS,
      maxLength: MAX_BUFFERED_BYTES,
      retryEAGAIN: (_error, written, waiting) => reader.isThere(written + waiting),
    });
    // Before the library's own, which would wait indefinitely.
    process.prependListener('exit', () => {
      reader.end();
      try {
        stream.flushSync();
      } catch {
        // The log is not read anymore.
        stream.destroy();
      }
    });
    standardOutput = stream;
  }
  return standardOutput;
}

/** Detects, once the process ends, whether the log is still read. */
function watchReader() {
  let silentSinceMs = Number.POSITIVE_INFINITY;
  let left = Number.POSITIVE_INFINITY;
  return {
    end() {
      silentSinceMs = performance.now();
    },
    isThere(bytes: number): boolean {
      if (bytes < left) silentSinceMs = Math.max(silentSinceMs, performance.now());
      left = bytes;
      return performance.now() - silentSinceMs < READER_TIMEOUT_MS;
    },
  };
}

/**
 * Reopens a pipe in non-blocking mode: a full pipe would block writes and the end of the process. Other
 * writers of the pipe are not affected.
 */
function withoutWaiting(fd: number): number {
  try {
    if (!fstatSync(fd).isFIFO()) return fd;
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Another system, or a pipe of another user.
    return fd;
  }
}

/**
 * Creates a logger of JSON lines on `to`, by default standard output; `level` is one of pino's names or
 * `silent`.
 */
export function createLogger(
  level: string,
  base: Record<string, string> = {},
  to: DestinationStream = destination(),
): Logger {
  const redact = { paths: redactPaths, censor: '[redacted]' };
  return pino({ level, base, redact, hooks: { logMethod: omitOutages } }, to);
}

/** Omits the line of a failure that only says that the database is unavailable, which the outage's own line has said. */
function omitOutages(this: pino.Logger, args: Parameters<pino.LogFn>, log: pino.LogFn): void {
  const [fields] = args;
  const isOutage = fields instanceof Object && 'err' in fields && isUnavailable(fields.err);
  if (!isOutage) log.apply(this, args);
}

/** Access-log entry of one request: without headers, query or body, so it needs no redaction. */
export interface AccessLine {
  requestId: string;
  operation: string;
  method: string;
  /** Request path with secrets removed. */
  path: string;
  status: number;
  /** Until it was answered. */
  ms: number;
  actor: { kind: 'key' | 'session'; id: string } | null;
}

/** Creates the access log: one line for each request on standard output, at level `info`. */
export function createAccessLog(level: string, name: string): { note(line: AccessLine): void } {
  const log = pino({ level, base: { process: name } }, destination());
  return {
    note({ actor, ...line }) {
      log.info(actor === null ? line : { ...line, [`${actor.kind}Id`]: actor.id }, 'request');
    },
  };
}
