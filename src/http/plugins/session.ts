import type { FastifyRequest } from 'fastify';
import { type Caller, MODES, type Mode } from '../../kernel/access.ts';
import { AppError, badRequest } from '../../kernel/errors.ts';
import type { HttpPorts, Session } from '../ports.ts';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** As of the keys that people make in the dashboard (docs/api/conventions.md#rate-limits). */
const PER_MINUTE = 10_000;
const MODE_HEADER = 'X-Workspace-Mode';
const NO_SESSION = 'There is no session: sign in.';

type Ports = Pick<HttpPorts, 'sessions'>;

/** What of a request tells who asks. */
export type Asking = Pick<FastifyRequest, 'headers' | 'ip' | 'method'>;

/** @throws {AppError} CSRF_REJECTED for a call that no page of this platform makes. */
export function assertOwnOrigin({ sessions }: Ports, request: Asking): void {
  if (!sessions.isOwnOrigin(request.headers)) throw new AppError('CSRF_REJECTED', { field: 'Origin' });
}

/**
 * Whom the session stands for (docs/api/authentication.md#sessions).
 *
 * @param open true where an account may call whose address is not confirmed.
 * @throws {AppError} UNAUTHORIZED, CSRF_REJECTED, EMAIL_NOT_VERIFIED; NOT_FOUND and BAD_REQUEST for its headers.
 */
export function verifySession(
  ports: Ports,
  request: Asking,
  token: string | null,
  open: boolean,
): Caller | Promise<Caller> {
  if (token === null) throw new AppError('UNAUTHORIZED', open ? { message: NO_SESSION } : {});
  const { ip, headers } = request;
  const found = ports.sessions.verify(token, { ip, userAgent: headers['user-agent'] ?? '' });
  if (found instanceof Promise) return found.then((session) => admit(ports, request, session, open));
  return admit(ports, request, found, open);
}

function admit(ports: Ports, request: Asking, session: Session | null, open: boolean): Caller {
  if (session === null) throw new AppError('UNAUTHORIZED', { message: NO_SESSION });
  if (!SAFE.has(request.method)) assertOwnPage(ports, request, session);
  if (!open && !session.emailVerified) throw new AppError('EMAIL_NOT_VERIFIED');
  const { headers } = request;
  const account = headers['x-account-id'];
  if (account !== undefined && account !== session.accountId) {
    throw new AppError('NOT_FOUND', { field: 'X-Account-Id', message: 'There is no such account.' });
  }
  const mode = modeOf(headers['x-workspace-mode']);
  return {
    actor: {
      kind: 'session',
      id: session.id,
      userId: session.accountId,
      isOwner: true,
      role: session.role,
      passwordCheckedMs: session.passwordCheckedMs,
    },
    accountId: session.accountId,
    workspaceId: session.workspaces[mode],
    mode,
    plan: session.plan,
    scope: 'FULL_ACCESS',
    permissions: [],
    rateLimitPerMinute: PER_MINUTE,
    dailyQuota: null,
  };
}

/** A foreign page can make a browser send the cookie, but neither our origin nor what only our pages can read. */
function assertOwnPage(ports: Ports, request: Asking, session: Session): void {
  assertOwnOrigin(ports, request);
  const sent = request.headers['x-csrf-token'];
  if (typeof sent === 'string' && ports.sessions.isCsrfToken(session.id, sent)) return;
  throw new AppError('CSRF_REJECTED', { field: 'X-CSRF-Token' });
}

function modeOf(sent: string | string[] | undefined): Mode {
  if (sent === undefined || sent === '') return 'live';
  const mode = MODES.find((one) => one === sent);
  if (mode === undefined) throw badRequest(MODE_HEADER, `${MODE_HEADER} is live or test.`);
  return mode;
}
