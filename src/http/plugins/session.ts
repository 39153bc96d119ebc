import type { FastifyRequest } from 'fastify';
import { type Caller, MODES, type Mode, ROLE_PERMISSIONS } from '../../kernel/access.ts';
import { AppError, badRequest } from '../../kernel/errors.ts';
import type { HttpPorts, Session, SessionAccount } from '../ports.ts';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Equal to the limit of keys created in the dashboard (docs/concepts/conventions.md#rate-limits). */
const PER_MINUTE = 10_000;
const MODE_HEADER = 'X-Workspace-Mode';
const NO_SESSION = 'Not signed in.';

type Ports = Pick<HttpPorts, 'sessions'>;

/** Parts of a request that identify the caller. */
export type SessionRequest = Pick<FastifyRequest, 'headers' | 'ip' | 'method'>;

/** @throws {AppError} CSRF_REJECTED for a call that no page of this platform makes. */
export function assertSameOrigin({ sessions }: Ports, request: SessionRequest): void {
  if (!sessions.isOwnOrigin(request.headers)) throw new AppError('CSRF_REJECTED', { field: 'Origin' });
}

/** Requirements of an endpoint for a session. */
export interface SessionRequirements {
  /** Whether accounts with an unconfirmed email address are accepted. */
  open: boolean;
  /** It is about the person, so their own account is meant, whichever the page shows. */
  personal: boolean;
}

/**
 * Returns the caller of a session (docs/concepts/authentication.md#sessions).
 *
 * @throws {AppError} UNAUTHORIZED, CSRF_REJECTED, EMAIL_NOT_VERIFIED; NOT_FOUND and BAD_REQUEST for its
 *   headers.
 */
export function verifySession(
  ports: Ports,
  request: SessionRequest,
  token: string | null,
  wanted: SessionRequirements,
): Caller | Promise<Caller> {
  if (token === null) throw new AppError('UNAUTHORIZED', wanted.open ? { message: NO_SESSION } : {});
  const { ip, headers } = request;
  const from = { ip, userAgent: headers['user-agent'] ?? '', accountId: chosenAccount(headers) };
  const found = ports.sessions.verify(token, from);
  if (found instanceof Promise) return found.then((session) => admit(ports, request, session, wanted));
  return admit(ports, request, found, wanted);
}

function chosenAccount(headers: SessionRequest['headers']): string | null {
  const sent = headers['x-account-id'];
  return typeof sent === 'string' ? sent : null;
}

function admit(
  ports: Ports,
  request: SessionRequest,
  session: Session | null,
  { open, personal }: SessionRequirements,
): Caller {
  if (session === null) throw new AppError('UNAUTHORIZED', { message: NO_SESSION });
  if (!SAFE.has(request.method)) assertOwnPage(ports, request, session);
  if (!open && !session.emailVerified) throw new AppError('EMAIL_NOT_VERIFIED');
  const { headers } = request;
  const { id, own, role, passwordCheckedMs } = session;
  const shown = accountOf(session, chosenAccount(headers));
  const account = personal ? own : shown;
  const mode = modeOf(headers['x-workspace-mode']);
  return {
    actor: { kind: 'session', id, userId: own.accountId, isOwner: account === own, role, passwordCheckedMs },
    accountId: account.accountId,
    workspaceId: account.workspaces[mode],
    mode,
    plan: account.plan,
    ...ROLE_PERMISSIONS[account.teamRole],
    rateLimitPerMinute: PER_MINUTE,
    dailyQuota: null,
  };
}

/** @throws {AppError} NOT_FOUND for one whose team they are not in, as for none. */
function accountOf({ own, teams }: Session, id: string | null): SessionAccount {
  if (id === null || id === own.accountId) return own;
  const account = teams.find(({ accountId }) => accountId === id);
  if (account !== undefined) return account;
  throw new AppError('NOT_FOUND', { field: 'X-Account-Id', message: 'Account not found.' });
}

/**
 * Asserts that one of our own pages sent the request. A foreign page can have the browser send the cookie,
 * but can neither send our origin nor read the CSRF token.
 */
function assertOwnPage(ports: Ports, request: SessionRequest, session: Session): void {
  assertSameOrigin(ports, request);
  const sent = request.headers['x-csrf-token'];
  if (typeof sent === 'string' && ports.sessions.isCsrfToken(session.id, sent)) return;
  throw new AppError('CSRF_REJECTED', { field: 'X-CSRF-Token' });
}

function modeOf(sent: string | string[] | undefined): Mode {
  if (sent === undefined || sent === '') return 'live';
  const mode = MODES.find((one) => one === sent);
  if (mode === undefined) throw badRequest(MODE_HEADER, `${MODE_HEADER} must be "live" or "test".`);
  return mode;
}
