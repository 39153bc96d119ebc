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

const FLUSH_BYTES = 65_536;
const FLUSH_MS = 250;

let standardOutput: DestinationStream | undefined;

/** Lines are gathered for a moment: a write for each would cost a request as much as its query. */
function destination(): DestinationStream {
  if (standardOutput === undefined) {
    const stream = pino.destination({
      fd: 1,
      sync: false,
      minLength: FLUSH_BYTES,
      maxWrite: 2 * FLUSH_BYTES,
      periodicFlush: FLUSH_MS,
    });
    process.on('exit', () => {
      try {
        stream.flushSync();
      } catch {
        // Not opened yet, or the reader has gone: nobody can be told.
      }
    });
    standardOutput = stream;
  }
  return standardOutput;
}

/** JSON lines, on standard output unless `to` is given; `level` is one of pino's names or `silent`. */
export function createLogger(
  level: string,
  base: Record<string, string> = {},
  to: DestinationStream = destination(),
): Logger {
  return pino({ level, base, redact: { paths: redactPaths, censor: '[redacted]' } }, to);
}

/**
 * The same without the search for secrets, which costs more than the rest of the line: for the access log,
 * which writes a fixed set of fields and no header, query or body.
 */
export function createAccessLogger(level: string, base: Record<string, string> = {}): Pick<Logger, 'info'> {
  return pino({ level, base }, destination());
}
