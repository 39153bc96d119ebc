import type { Caller, Mode, SessionActor, TeamRole } from '../kernel/access.ts';
import type { Clock } from '../kernel/clock.ts';
import type { AppError } from '../kernel/errors.ts';
import type { Plan, QuotaExceededDetails } from '../kernel/plans.ts';
import type { Counter, WindowCount } from '../platform/counters.ts';
import type { Idempotency } from '../platform/db/idempotency.ts';
import type { Leases } from '../platform/leases.ts';
import type { AccessLine, Logger } from '../platform/logger.ts';
import type { SameOriginCheck } from './same-origin.ts';
import type { SessionCookie } from './session-cookie.ts';

/** Dependencies of the HTTP layer on the rest of the program; the composition root provides them. */
export interface HttpPorts {
  keys: KeyVerifier;
  /** @returns whose a valid user token is, and its id; null for any other. */
  verifyUserToken(token: string): Promise<{ accountId: string; tokenId: string } | null>;
  sessions: Sessions;
  counters: RequestCounters;
  idempotency: Pick<Idempotency, 'find' | 'once' | 'onceLeased'>;
  /** Counts open event streams. */
  leases: Pick<Leases, 'acquire'>;
  originLock: OriginLock;
  metrics: RequestMetrics;
  /**
   * Returns 409 for a failed unique constraint, 503 for a database that does not answer or a failure that passes, such as a
   * deadlock, and null for anything else.
   */
  databaseFailure(error: unknown): AppError | null;
  clock: Clock;
  log: Logger;
  /** One line for each answered request; neither waits nor throws. */
  accessLog: { note(line: AccessLine): void };
  requestLog: RequestRecorder;
  quotas: QuotaSignals;
  /** Records calls of deprecated endpoints by keys; neither waits nor throws. */
  deprecatedUses: { note(use: { workspaceId: string; endpoint: string }): void };
}

export interface KeyVerifier {
  /**
   * Verifies an API key.
   *
   * @param key the key as sent, which starts with `pk_`.
   * @returns the caller directly when the key is cached here, otherwise a promise of it.
   * @throws {AppError} INVALID_KEY, KEY_DISABLED, KEY_EXPIRED, EMAIL_NOT_VERIFIED, IP_NOT_ALLOWED,
   *   DOMAIN_NOT_ALLOWED (docs/concepts/authentication.md#the-key).
   */
  verify(key: string, from: { ip: string; origin: string | undefined }): Caller | Promise<Caller>;
  /** Registers a listener that is called when cached keys may be outdated. */
  onChanged(listener: () => void): void;
}

/** Valid dashboard session. */
export interface Session extends Pick<SessionActor, 'id' | 'role' | 'passwordCheckedMs'> {
  /** The account of the person. */
  own: SessionAccount;
  /** Accounts of the teams that the person is a member of. */
  teams: readonly SessionAccount[];
  emailVerified: boolean;
}

/** An account that a session may act for. */
export interface SessionAccount {
  accountId: string;
  teamRole: TeamRole;
  plan: Plan;
  /** The ids of the account's workspaces. */
  workspaces: Readonly<Record<Mode, string>>;
}

/** Origin of a request with a session, and the account it acts for. */
interface SessionFrom {
  ip: string;
  userAgent: string;
  /** Null: their own. */
  accountId: string | null;
}

/** The sessions of the dashboard, and what proves that its own pages ask (docs/decisions/authentication.md#sessions). */
export interface Sessions {
  cookie: SessionCookie;
  isOwnOrigin: SameOriginCheck;
  /**
   * Verifies a session.
   *
   * @param token the value of the cookie.
   * @returns the session directly when it is cached here, otherwise a promise; null when it is unknown, ended
   *   or expired, or of a suspended account.
   */
  verify(token: string, from: SessionFrom): Session | null | Promise<Session | null>;
  isCsrfToken(sessionId: string, sent: string): boolean;
  /** Registers a listener that is called when cached sessions may be outdated. */
  onChanged(listener: () => void): void;
}

export interface OriginLock {
  /**
   * Checks whether a page of this origin may make checkout and payment calls for the workspace
   * (docs/concepts/integration-domains.md#the-origin-lock).
   *
   * @param origin null when the request names none.
   * @returns the code of the rejection, or null.
   */
  refusal(
    caller: Pick<Caller, 'workspaceId' | 'mode'>,
    origin: URL | null,
  ): Promise<'integration_domain_required' | 'origin_not_allowed' | null>;
}

export interface RequestCounters {
  /** Counts one request in the 60-second window of a key or session (docs/concepts/conventions.md#rate-limits). */
  perMinute(actorId: string): WindowCount | Promise<WindowCount>;
  /** Counts one request in its current UTC day. */
  perDay(actorId: string): WindowCount | Promise<WindowCount>;
  /** The count of its current UTC day as it stands. */
  dayCount(actorId: string): WindowCount | Promise<WindowCount>;
  /** The counter of the endpoints' own caps, one for each length of window. */
  window(windowSec: number | 'day'): Counter;
}

/** A request of a caller who is known, as its caller may see it later. */
export interface CompletedRequest {
  requestId: string;
  workspaceId: string;
  /** Null where no key was needed. */
  keyId: string | null;
  method: string;
  /** Path as sent, without its query and with secrets removed. */
  path: string;
  status: number;
  /** `error.code` of the answer; null where there was no error. */
  code: string | null;
  /** Until it was answered. */
  ms: number;
}

/** Neither waits, and neither throws. */
export interface RequestRecorder {
  note(request: CompletedRequest): void;
  /** Counts every request of a known caller once, for billing. */
  count(request: Pick<CompletedRequest, 'workspaceId' | 'keyId' | 'status'>): void;
}

/** Neither waits, and neither throws. */
export interface QuotaSignals {
  /** More or less of the plan may be used now. */
  changed(workspaceId: string): void;
  refused(refusal: QuotaExceededDetails): void;
}

export interface RequestMetrics {
  observe(operation: string, method: string, status: number, seconds: number): void;
}
