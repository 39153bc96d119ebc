import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type Caller,
  hasPermission,
  keyIdOf,
  type Mode,
  PASSWORD_CONFIRMATION_TTL_MS,
} from '../../kernel/access.ts';
import { AppError } from '../../kernel/errors.ts';
import type { HttpPorts } from '../ports.ts';
import type { Gate, Route } from '../route.ts';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const FINANCE = { 'finance-read': 'finance:read', 'finance-write': 'finance:write' } as const;

const OWNER_ALONE = 'Only the account owner can do this.';
const NO_USER_TOKEN = 'A user token is required. Send it as X-User-Token.';

/**
 * Gate, then scope, then permission list (docs/decisions/authorization.md#rejection-order,
 * docs/concepts/conventions.md#scopes-and-permissions).
 *
 * @throws {AppError} the 403 of the first rule that refuses.
 */
export function assertAllowed(
  route: Pick<Route, 'gate' | 'permission' | 'writes' | 'onlyMode' | 'selfService'>,
  method: string,
  caller: Caller,
  hasUserToken: boolean,
): void {
  if (route.gate !== null) assertGate(route.gate, caller, hasUserToken);
  if (route.selfService === true && caller.actor.kind === 'session') return;
  const writes = route.writes ?? !READS.has(method);
  // A credential that passed the owner gate may write, regardless of the scope of the key sent with it.
  if (caller.scope === 'READ_ONLY' && writes && route.gate !== 'owner') {
    throw new AppError('INSUFFICIENT_SCOPE', inPerson(caller, 'Your role in this team is read-only.'));
  }
  if (route.permission !== null && !hasPermission(caller, route.permission)) {
    const message = `This API key does not have the permission ${route.permission}.`;
    const words = `Your role in this team does not have the permission ${route.permission}.`;
    throw new AppError('PERMISSION_DENIED', { message, ...inPerson(caller, words) });
  }
  if (route.onlyMode !== undefined && caller.mode !== route.onlyMode) {
    throw new AppError('PERMISSION_DENIED', { message: OTHER_MODE[route.onlyMode] });
  }
}

const OTHER_MODE: Record<Mode, string> = {
  live: 'Account settings require a live key or a session in live mode.',
  test: 'Simulation requires a test key or a session in test mode.',
};

function assertGate(gate: Gate, caller: Caller, hasUserToken: boolean): void {
  const { actor } = caller;
  const isPerson = actor.kind === 'session';
  if (gate === 'admin' || gate === 'session-owner') {
    if (!isPerson || (gate === 'admin' && actor.role !== 'ADMIN')) throw new AppError('ADMIN_ONLY');
    if (!actor.isOwner) throw new AppError('ADMIN_ONLY', { message: OWNER_ALONE });
    return;
  }
  if (gate === 'user') {
    if (!isPerson && !hasUserToken) throw new AppError('INVALID_USER_TOKEN', { message: NO_USER_TOKEN });
    return;
  }
  if (gate === 'owner') {
    if (caller.scope !== 'FULL_ACCESS' && !hasUserToken) {
      const words = 'This requires the role OWNER or ADMIN in this team.';
      throw new AppError('OWNER_SCOPE_REQUIRED', inPerson(caller, words));
    }
    return;
  }
  if (!hasPermission(caller, FINANCE[gate])) {
    const message = `This endpoint requires a FULL_ACCESS key or the permission ${FINANCE[gate]}.`;
    const words = 'Finance requires the role OWNER or ADMIN in this team.';
    throw new AppError('FINANCIAL_SCOPE_REQUIRED', { message, ...inPerson(caller, words) });
  }
}

/** The message for a person, whom keys and scopes do not concern. */
function inPerson({ actor }: Caller, message: string): { message?: string } {
  return actor.kind === 'session' ? { message } : {};
}

/** @throws {AppError} PASSWORD_REQUIRED. */
function assertFresh({ recentPassword }: Route, { actor }: Caller, nowMs: number): void {
  if (recentPassword !== true || actor.kind === 'key') return;
  if (nowMs - actor.passwordCheckedMs >= PASSWORD_CONFIRMATION_TTL_MS)
    throw new AppError('PASSWORD_REQUIRED');
}

/**
 * Refuses what the caller may not do, before the body is read; where a key may act on itself and the body can name
 * it, after.
 */
export function policy(app: FastifyInstance, { clock }: Pick<HttpPorts, 'clock'>): void {
  app.decorateRequest('heldRefusal', null);
  app.addHook('onRequest', (request, _reply, done) => {
    const { endpoint: route } = request;
    if (route === null || request.caller === null) return done();
    try {
      assertAllowed(route, request.method, request.caller, request.userTokenId !== null);
      assertFresh(route, request.caller, clock.ms());
      done();
    } catch (error) {
      if (route.ownKey === undefined || !(error instanceof AppError)) {
        return done(error instanceof Error ? error : new Error(String(error)));
      }
      request.heldRefusal = error;
      done();
    }
  });
  app.addHook('preHandler', (request, _reply, done) => {
    const { heldRefusal, endpoint, caller } = request;
    if (heldRefusal === null || endpoint?.ownKey === undefined) return done();
    done(namesOnly(caller && keyIdOf(caller), request, endpoint.ownKey) ? undefined : heldRefusal);
  });
}

/** True of a request that names no key at all, too: its shape is what refuses it. */
function namesOnly(
  keyId: string | null,
  request: FastifyRequest,
  { in: parts, name }: NonNullable<Route['ownKey']>,
): boolean {
  const named = parts.flatMap((part) => Object.entries(Object(request[part])));
  return named.every(([key, value]) => key !== name || typeof value !== 'string' || value === keyId);
}
