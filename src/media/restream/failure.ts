import { truncate } from '../../kernel/truncate.ts';
import { GuardError, OutboundError } from '../../platform/outbound/errors.ts';
import { ProtocolError } from '../protocols/rtmp/protocol-error.ts';

/**
 * Kind of failure of a destination.
 * - `normal` is retried.
 * - `refused` too, but only a few times: the destination rejects this key.
 * - `dropped` may mean a rejected key: the destination hangs up without a reason.
 * - `fatal` is not retried: it would fail again.
 */
export type PushErrorKind = 'normal' | 'refused' | 'dropped' | 'fatal';

/** Failure with a message for users; text from a destination is included without the stream key. */
export class PushError extends Error {
  override name = 'PushError';
  readonly kind: PushErrorKind;

  constructor(kind: PushErrorKind, message: string) {
    // Text of the remote side is truncated in many places, which can split a character.
    super(message.toWellFormed());
    this.kind = kind;
  }
}

const QUOTED_MAX = 120;

/** Makes text of a destination fit for display: one short line, without our secrets. */
export function sanitizeRemoteMessage(text: string, secrets: readonly (string | null)[]): string {
  let said = text;
  for (const secret of secrets) {
    if (secret !== null && secret.length > 0) said = said.replaceAll(secret, '…');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
  const line = said.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]+/g, ' ').trim();
  return line.length > QUOTED_MAX ? `${truncate(line, QUOTED_MAX)}…` : line;
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|DEPTH_ZERO|SSL|TLS/;
/** Role of the other end, used in messages. */
export type Who = 'destination' | 'source';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection (ECONNREFUSED)',
  EHOSTUNREACH: 'cannot be reached (EHOSTUNREACH)',
  ENETUNREACH: 'cannot be reached (ENETUNREACH)',
  ECONNRESET: 'reset the connection (ECONNRESET)',
  EPIPE: 'closed the connection (EPIPE)',
};

/** Converts any error of a destination, or a source, to one with a message. */
export function toPushError(error: unknown, who: Who = 'destination'): PushError {
  if (error instanceof PushError) return error;
  if (error instanceof GuardError) {
    const act = who === 'destination' ? 'sent to' : 'fetched from';
    return new PushError('fatal', `Media cannot be ${act} the URL of the ${who}: ${error.reason}.`);
  }
  if (error instanceof ProtocolError) {
    return new PushError('normal', `The ${who} did not return a valid RTMP response: ${error.message}.`);
  }
  const code = error instanceof OutboundError ? error.code : codeOf(error);
  if (error instanceof OutboundError && error.stage === 'dns') {
    return new PushError('normal', `The host name of the ${who} could not be resolved (${code}).`);
  }
  if (error instanceof OutboundError && error.stage === 'timeout') {
    return new PushError('normal', `The ${who} did not respond in time.`);
  }
  if (error instanceof OutboundError && error.stage === 'redirect') {
    return new PushError('normal', `The ${who} redirects: ${code}.`);
  }
  if (CERTIFICATE.test(code)) {
    return new PushError('normal', `The certificate of the ${who} is invalid (${code}).`);
  }
  const reason = REASONS[code];
  if (reason !== undefined) return new PushError('normal', `The ${who} ${reason}.`);
  return new PushError('normal', `The connection to the ${who} failed (${code}).`);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
