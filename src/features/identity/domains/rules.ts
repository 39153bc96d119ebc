import { randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import type { Mode } from '../../../kernel/access.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import { badRequest } from '../../../kernel/errors.ts';
import { toHostname } from '../../../kernel/hostname.ts';
import type {
  IntegrationDomainMethod as DomainProof,
  IntegrationDomainStatus as DomainStatus,
} from '../../../platform/db/tables.generated.ts';

/** Times of automatic checks of a pending domain after the start; then hourly. */
const FIRST_CHECKS_MS = [1, 5, 15, 60].map((minutes) => minutes * MINUTE_MS);
const PENDING_MS = 7 * DAY_MS;
/** Time without a valid proof after which a verified domain lapses. */
const LAPSE_MS = 3 * DAY_MS;

const RECORD_LABEL = '_svc-verify';
/** Maximum domain length, which leaves room for the label. */
const MAX_LENGTH = 253 - RECORD_LABEL.length - 1;
const FILE_PATH = '/.well-known/svc-domain-verification.txt';

/** Locations and value of the verification record. */
export const recordName = (domain: string) => `${RECORD_LABEL}.${domain}`;
export const fileUrl = (domain: string) => `https://${domain}${FILE_PATH}`;
export const verificationValue = (token: string) => `svc-domain-verify=${token}`;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TOKEN_LENGTH = 32;

export function newToken(): string {
  return Array.from({ length: TOKEN_LENGTH }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}

interface Naming {
  mode: Mode;
  isPlatformHost(name: string): boolean;
  isPublicSuffix(name: string): boolean;
  /**
   * Returns why a name is not on the public internet
   * (docs/decisions/outbound-requests.md#names-and-addresses), or null.
   */
  refuseName(name: string): string | null;
}

/** Reports whether a name is used only in development. */
const isLocal = (name: string) => name === 'localhost' || name.endsWith('.test');

/**
 * Parses a valid domain into punycode and lower case.
 *
 * @throws {AppError} BAD_REQUEST, field `domain`.
 */
export function parseDomain(text: string, { mode, ...naming }: Naming): string {
  const name = toHostname(text.trim());
  const refuse = (reason: string) => badRequest('domain', reason);
  if (name === null) throw refuse('domain must be a host name without scheme, port or path.');
  if (isIP(name) !== 0) throw refuse('domain must be a host name, not an IP address.');
  if (name.length > MAX_LENGTH) throw refuse(`domain must have at most ${MAX_LENGTH} characters.`);
  // Checked before the platform's own hosts: a development platform runs on localhost itself.
  if (mode === 'test' && isLocal(name)) return name;
  if (naming.isPlatformHost(name)) throw refuse('This host belongs to the platform itself.');
  const reason = naming.refuseName(name);
  if (reason !== null) throw refuse(`This domain cannot be verified: ${reason}.`);
  if (naming.isPublicSuffix(name))
    throw refuse('This is a public suffix, under which anyone can register domains.');
  return name;
}

/** Result of one check of a domain. */
export interface VerificationResult {
  /** Whether the TXT record is present. */
  txt: boolean;
  /** Whether the file is present. */
  file: boolean;
  /** Problems with the record and the file; null without any. */
  error: string | null;
}

/** State of a domain that a check depends on. */
export interface DomainState {
  status: DomainStatus;
  method: DomainProof | null;
  include_subdomains: boolean;
  pending_since: Date | null;
  checks: number;
  failing_since: Date | null;
  verified_at: Date | null;
  next_check_at: Date | null;
}

export interface DomainChange extends Omit<DomainState, 'include_subdomains'> {
  txt_verified: boolean;
  last_checked_at: Date;
  last_error: string | null;
}

export type DomainEvent =
  | 'integration_domain.verified'
  | 'integration_domain.failed'
  | 'integration_domain.lapsed';

/** Returns the valid proof; with both, the requested one. */
function proofOf(
  { method, include_subdomains }: DomainState,
  { txt, file }: VerificationResult,
): DomainProof | null {
  const fileCounts = file && !include_subdomains;
  if (txt && !(fileCounts && method === 'WELL_KNOWN')) return 'DNS_TXT';
  return fileCounts ? 'WELL_KNOWN' : null;
}

/**
 * Returns the state of a domain after a check (docs/decisions/integration-domains.md#states).
 *
 * @param manual requested by the partner: the schedule is unchanged, and a failed domain restarts.
 */
export function applyVerification(
  state: DomainState,
  finding: VerificationResult,
  now: Date,
  manual: boolean,
): { change: DomainChange; event: DomainEvent | null } {
  const { include_subdomains: _, ...kept } = state;
  const seen = { ...kept, txt_verified: finding.txt, last_checked_at: now, last_error: finding.error };
  const later = (ms: number) => dateFromMs(now.getTime() + ms);
  const method = proofOf(state, finding);
  if (method !== null) {
    const wasVerified = state.status === 'VERIFIED';
    const change: DomainChange = {
      ...seen,
      status: 'VERIFIED',
      method,
      last_error: null,
      verified_at: wasVerified ? state.verified_at : now,
      failing_since: null,
      pending_since: null,
      checks: 0,
      next_check_at: later(DAY_MS),
    };
    return { change, event: wasVerified ? null : 'integration_domain.verified' };
  }
  if (state.status === 'PENDING') return stillPending(state, seen, now, manual);
  if (state.status === 'FAILED') return { change: { ...seen, ...resetVerification(now) }, event: null };
  const failingSince = state.failing_since ?? now;
  const lapses = state.status === 'VERIFIED' && now.getTime() - failingSince.getTime() >= LAPSE_MS;
  const change: DomainChange = {
    ...seen,
    status: lapses ? 'LAPSED' : state.status,
    failing_since: failingSince,
    next_check_at: manual ? state.next_check_at : later(DAY_MS),
  };
  return { change, event: lapses ? 'integration_domain.lapsed' : null };
}

/** Returns the state at the start of the verification. */
export function resetVerification(now: Date) {
  return {
    status: 'PENDING',
    pending_since: now,
    checks: 0,
    next_check_at: nextCheck(now, 0, now),
  } as const;
}

function stillPending(
  state: DomainState,
  seen: DomainChange,
  now: Date,
  manual: boolean,
): { change: DomainChange; event: DomainEvent | null } {
  const since = state.pending_since ?? now;
  if (now.getTime() - since.getTime() >= PENDING_MS) {
    return { change: { ...seen, status: 'FAILED', next_check_at: null }, event: 'integration_domain.failed' };
  }
  if (manual) return { change: seen, event: null };
  const checks = state.checks + 1;
  return { change: { ...seen, checks, next_check_at: nextCheck(since, checks, now) }, event: null };
}

/** Returns the next check: after 1, 5, 15 and 60 minutes, then hourly, and at the end of the waiting time. */
function nextCheck(since: Date, checks: number, now: Date): Date {
  const start = since.getTime();
  const first = FIRST_CHECKS_MS[checks];
  // The next check of a late worker is not in the past.
  const next = first === undefined ? now.getTime() + HOUR_MS : Math.max(start + first, now.getTime());
  return dateFromMs(Math.min(next, start + PENDING_MS));
}

/** Returns when a pending domain fails. */
export function pendingUntil({ status, pending_since: since }: DomainState): Date | null {
  return status === 'PENDING' && since !== null ? dateFromMs(since.getTime() + PENDING_MS) : null;
}

interface VerifiedDomain {
  domain: string;
  include_subdomains: boolean;
}

/**
 * Reports whether a verified domain covers a page of this origin. Development names may be served without
 * TLS.
 */
export function matchesOrigin(
  { domain, include_subdomains }: VerifiedDomain,
  origin: URL,
  mode: Mode,
): boolean {
  const secure =
    origin.protocol === 'https:' || (mode === 'test' && isLocal(domain) && origin.protocol === 'http:');
  const name = toHostname(origin.hostname);
  if (!secure || name === null) return false;
  return name === domain || (include_subdomains && name.endsWith(`.${domain}`));
}
