/**
 * A target that must not be dialed. `reason` goes to the caller and into the delivery log as `ssrf_guard:
 * <reason>` (docs/concepts/webhooks.md#delivery-log); it never reveals the addresses of a name.
 */
export class GuardError extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`ssrf_guard: ${reason}`);
    this.name = 'GuardError';
    this.reason = reason;
  }
}

/** Stage in which a call failed. `connection` means that the connection broke before a response arrived. */
export type OutboundStage = 'dns' | 'connect' | 'connection' | 'timeout' | 'redirect';

/** A call without an answer; the message is fit for the partner: `dns: ENOTFOUND`, `timeout: 10000 ms`. */
export class OutboundError extends Error {
  readonly stage: OutboundStage;
  readonly code: string;

  constructor(stage: OutboundStage, code: string, cause?: unknown) {
    super(`${stage}: ${code}`, { cause });
    this.name = 'OutboundError';
    this.stage = stage;
    this.code = code;
  }
}

/** The `code` of a system, TLS, c-ares or undici error, else its class name. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
