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

/** When a pending domain is looked at by itself, after the start; then hourly. */
const FIRST_CHECKS_MS = [1, 5, 15, 60].map((minutes) => minutes * MINUTE_MS);
const PENDING_MS = 7 * DAY_MS;
/** A verified domain whose proof is gone for so long is verified no more. */
const LAPSE_MS = 3 * DAY_MS;

const RECORD_LABEL = '_svc-verify';
/** Room for the label in front. */
const MAX_LENGTH = 253 - RECORD_LABEL.length - 1;
const FILE_PATH = '/.well-known/svc-domain-verification.txt';

/** Where a proof is looked for, and what it says. */
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
   * Why a name is none of the public internet (docs/decisions/outbound-requests.md#names-and-addresses), or
   * null.
   */
  refuseName(name: string): string | null;
}

/** Names that only development uses. */
const isLocal = (name: string) => name === 'localhost' || name.endsWith('.test');

/**
 * A domain that one can declare, in punycode and lower case.
 *
 * @throws {AppError} BAD_REQUEST, field `domain`.
 */
export function parseDomain(text: string, { mode, ...naming }: Naming): string {
  const name = toHostname(text.trim());
  const refuse = (reason: string) => badRequest('domain', reason);
  if (name === null) throw refuse('domain must be a host name without scheme, port or path.');
  if (isIP(name) !== 0) throw refuse('domain must be a host name, not an IP address.');
  if (name.length > MAX_LENGTH) throw refuse(`domain must have at most ${MAX_LENGTH} characters.`);
  // Before the platform's own hosts: a development platform is at localhost itself.
  if (mode === 'test' && isLocal(name)) return name;
  if (naming.isPlatformHost(name)) throw refuse('This host belongs to the platform itself.');
  const reason = naming.refuseName(name);
  if (reason !== null) throw refuse(`This domain cannot be verified: ${reason}.`);
  if (naming.isPublicSuffix(name))
    throw refuse('This is a public suffix, under which anyone can register domains.');
  return name;
}

/** What one look at a domain found. */
export interface VerificationResult {
  /** The TXT record is there. */
  txt: boolean;
  /** The file is there. */
  file: boolean;
  /** What is wrong with either; null when nothing is. */
  error: string | null;
}

/** The part of a domain that a look at it decides on. */
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

/** Which proof counts; the one that was asked for, where both are there. */
function proofOf(
  { method, include_subdomains }: DomainState,
  { txt, file }: VerificationResult,
): DomainProof | null {
  const fileCounts = file && !include_subdomains;
  if (txt && !(fileCounts && method === 'WELL_KNOWN')) return 'DNS_TXT';
  return fileCounts ? 'WELL_KNOWN' : null;
}

/**
 * The state of a domain after a look at it (docs/decisions/integration-domains.md#states).
 *
 * @param manual asked for by the partner: the schedule stays, and a failed domain starts anew.
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

/** The wait for a proof, from its beginning. */
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

/** After 1, 5, 15 and 60 minutes, then hourly, and at the very end of the wait. */
function nextCheck(since: Date, checks: number, now: Date): Date {
  const start = since.getTime();
  const first = FIRST_CHECKS_MS[checks];
  // Where the worker was late, the next look is not in the past.
  const next = first === undefined ? now.getTime() + HOUR_MS : Math.max(start + first, now.getTime());
  return dateFromMs(Math.min(next, start + PENDING_MS));
}

/** When a domain that is still pending is given up. */
export function pendingUntil({ status, pending_since: since }: DomainState): Date | null {
  return status === 'PENDING' && since !== null ? dateFromMs(since.getTime() + PENDING_MS) : null;
}

interface VerifiedDomain {
  domain: string;
  include_subdomains: boolean;
}

/** Does a verified domain cover a page of this origin? Names of development may be served without TLS. */
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
