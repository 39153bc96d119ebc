import { constants, fstatSync, openSync } from 'node:fs';
import { type DestinationStream, pino } from 'pino';

/** What the program logs with; pino behind it. */
export type Logger = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'child'>;

/** Names whose values never reach a log line, wherever they stand in the logged object. */
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
/** While nobody reads; what comes then is lost. */
const HELD_BYTES = 2 ** 24;
/** When the process ends: nobody has taken anything for so long. */
const SILENT_MS = 1000;

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
      maxLength: HELD_BYTES,
      retryEAGAIN: (_error, written, waiting) => reader.isThere(written + waiting),
    });
    // Before the library's own, which would wait for ever.
    process.prependListener('exit', () => {
      reader.end();
      try {
        stream.flushSync();
      } catch {
        // Nobody reads any more.
        stream.destroy();
      }
    });
    standardOutput = stream;
  }
  return standardOutput;
}

/** Tells, once the process ends, whether somebody still takes what is written. */
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
      return performance.now() - silentSinceMs < SILENT_MS;
    },
  };
}

/**
 * A pipe that is full holds up whoever writes to it, and the end of the process: ours is opened once more, so that the
 * others at the pipe notice nothing.
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

/** JSON lines, on standard output unless `to` is given; `level` is one of pino's names or `silent`. */
export function createLogger(
  level: string,
  base: Record<string, string> = {},
  to: DestinationStream = destination(),
): Logger {
  return pino({ level, base, redact: { paths: redactPaths, censor: '[redacted]' } }, to);
}

/** What the access log says of one request: no header, query or body, so there is no secret to look for. */
export interface AccessLine {
  requestId: string;
  operation: string;
  method: string;
  /** Without secrets. */
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
