import { truncate } from '../../kernel/truncate.ts';
import { GuardError, OutboundError } from '../../platform/outbound/errors.ts';
import { ProtocolError } from '../protocols/rtmp/protocol-error.ts';

/**
 * What went wrong with a destination.
 * - `normal` is tried again.
 * - `refused` too, but not often: the destination does not want this key.
 * - `dropped` may mean the same: it hangs up where others would say so.
 * - `fatal` is not: it would go wrong in the same way.
 */
export type PushErrorKind = 'normal' | 'refused' | 'dropped' | 'fatal';

/** Its message is for people, in our words; what a destination said stands in it without the stream key. */
export class PushError extends Error {
  override name = 'PushFailure';
  readonly kind: PushErrorKind;

  constructor(kind: PushErrorKind, message: string) {
    // What the other end has said is cut to fit in many places.
    super(message.toWellFormed());
    this.kind = kind;
  }
}

const QUOTED_MAX = 120;

/** What a destination said, fit to be shown: one short line, without our secrets. */
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
/** The other end, as it is called. */
export type Who = 'destination' | 'source';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection (ECONNREFUSED)',
  EHOSTUNREACH: 'cannot be reached (EHOSTUNREACH)',
  ENETUNREACH: 'cannot be reached (ENETUNREACH)',
  ECONNRESET: 'reset the connection (ECONNRESET)',
  EPIPE: 'closed the connection (EPIPE)',
};

/** Anything that can be thrown on the way to a destination, or a source, in words. */
export function toPushError(error: unknown, who: Who = 'destination'): PushError {
  if (error instanceof PushError) return error;
  if (error instanceof GuardError) {
    const act = who === 'destination' ? 'sent to' : 'fetched from';
    return new PushError('fatal', `Nothing may be ${act} the URL of the ${who}: ${error.reason}.`);
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
