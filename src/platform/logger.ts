import { constants, fstatSync, openSync } from 'node:fs';
import { type DestinationStream, pino } from 'pino';
import { systemClock } from '../kernel/clock.ts';

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

const FLUSH_BYTES = 65_536;
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

/** pino's number of `info`. */
const INFO = 30;
/** Lines are handed on together: the stream measures all that it holds with each piece that it is given. */
const GATHERED_CHARACTERS = 16_384;
const GATHER_MS = 100;

/** The access log: the lines that pino would write, on standard output, for a fifth of what they cost by it. */
export function createAccessLog(level: string, name: string): { note(line: AccessLine): void } {
  if (!pino({ level }).isLevelEnabled('info')) return { note() {} };
  const to = destination();
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const handOn = () => {
    clearTimeout(timer);
    timer = undefined;
    const gathered = lines;
    lines = '';
    if (gathered !== '') to.write(gathered);
  };
  // Before what the stream does then.
  process.prependListener('exit', handOn);
  return {
    note({ requestId, operation, method, path, status, ms, actor }) {
      const who = actor === null ? '' : `"${actor.kind}Id":${quoted(actor.id)},`;
      lines +=
        `{"level":${INFO},"time":${systemClock.ms()},"process":"${name}","requestId":"${requestId}","operation":"${operation}",` +
        `"method":"${method}","path":${quoted(path)},"status":${status},"ms":${ms},${who}"msg":"request"}\n`;
      if (lines.length >= GATHERED_CHARACTERS) handOn();
      else timer ??= setTimeout(handOn, GATHER_MS).unref();
    },
  };
}

/** What needs no escape in JSON. */
const PLAIN = /^[\w\-./~%:@!$&'()*+,;=]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
