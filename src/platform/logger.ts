import { pino } from 'pino';

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

/** JSON lines on standard output; `level` is one of pino's names or `silent`. */
export function createLogger(level: string, base: Record<string, string> = {}): Logger {
  return pino({ level, base, redact: { paths: redactPaths, censor: '[redacted]' } });
}
