import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../../kernel/access.ts';
import { AppError } from '../../kernel/errors.ts';
import { bearerOf } from '../bearer.ts';
import type { HttpPorts } from '../ports.ts';
import { isUnroutable } from './not-found.ts';
import { assertSameOrigin, type SessionRequest, verifySession } from './session.ts';

/**
 * The key of `Authorization: Bearer`, else of `X-API-Key`; never of the query
 * (docs/concepts/authentication.md#the-key).
 */
export function presentedKey(headers: FastifyRequest['headers']): string | null {
  const bearer = bearerOf(headers);
  if (bearer !== undefined) return bearer;
  const header = headers['x-api-key'];
  return typeof header === 'string' && header !== '' ? header : null;
}

/** Returns the host of the requesting page according to the browser. */
export function originHost(headers: FastifyRequest['headers']): string | undefined {
  const origin = headers.origin ?? headers.referer;
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).hostname : undefined;
}

type Ports = Pick<HttpPorts, 'keys' | 'verifyUserToken' | 'sessions'>;

/** Requirements of endpoints about the session itself. */
const PERSON = { open: true, personal: true };

/**
 * Returns the caller: of the key, otherwise of the dashboard session.
 *
 * @param personal whether the person acts for themselves, independently of the account that the session
 *   shows.
 * @throws {AppError} the 401 or 403 of the check (docs/concepts/authentication.md#the-key).
 */
export function identify(
  ports: Pick<Ports, 'keys' | 'sessions'>,
  request: SessionRequest,
  personal = false,
): Caller | Promise<Caller> {
  const key = presentedKey(request.headers);
  if (key === null) {
    const token = ports.sessions.cookie.read(request.headers);
    return verifySession(ports, request, token, { open: false, personal });
  }
  if (!key.startsWith('pk_')) throw new AppError('INVALID_KEY_FORMAT');
  return ports.keys.verify(key, { ip: request.ip, origin: originHost(request.headers) });
}

/** Public paths, and paths that do not exist, take a valid key or session as attribution and ignore any other. */
async function attribute(ports: Ports, request: FastifyRequest): Promise<void> {
  const { headers } = request;
  if (presentedKey(headers) === null && ports.sessions.cookie.read(headers) === null) return;
  try {
    request.caller = await identify(ports, request);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

/** Turns the key, with its restrictions, or the session into the caller (docs/concepts/authentication.md#the-key). */
export function authenticate(app: FastifyInstance, ports: Ports): void {
  app.decorateRequest('caller', null);
  app.decorateRequest('userTokenId', null);
  const run = (request: FastifyRequest): Promise<void> | undefined => {
    const { endpoint } = request;
    const auth = isUnroutable(request) ? 'public' : (endpoint?.auth ?? 'none');
    const isOptional = auth === 'optional' && presentedKey(request.headers) === null;
    if (auth === 'public' || isOptional) return attribute(ports, request);
    if (endpoint?.ownOrigin === true) assertSameOrigin(ports, request);
    if (auth === 'none') return undefined;
    const caller =
      auth === 'session'
        ? verifySession(ports, request, ports.sessions.cookie.read(request.headers), PERSON)
        : identify(ports, request, endpoint?.gate === 'user');
    if (caller instanceof Promise) return admit(request, caller);
    // Seen a moment ago: nothing to wait for.
    request.caller = caller;
    return undefined;
  };
  app.addHook('onRequest', (request, _reply, done) => {
    try {
      const pending = run(request);
      if (pending === undefined) done();
      else pending.then(() => done(), done);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

async function admit(request: FastifyRequest, verified: Promise<Caller>): Promise<void> {
  request.caller = await verified;
}

/**
 * The user token (docs/concepts/authentication.md#user-tokens). It runs after the count: a refused token is a later
 * 401 of a request whose key passed, so it carries the headers of docs/concepts/conventions.md#rate-limits, and
 * guessing tokens uses up the key's limit.
 */
export function userToken(app: FastifyInstance, ports: Ports): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { caller, headers, endpoint } = request;
    const token = headers['x-user-token'];
    const readsToken = endpoint?.auth === 'key' || endpoint?.auth === 'optional';
    if (caller === null || !readsToken || !token) return done();
    verifyUser(ports, request, caller, String(token)).then(() => done(), done);
  });
}

async function verifyUser(
  ports: Ports,
  request: FastifyRequest,
  caller: Caller,
  token: string,
): Promise<void> {
  const verified = await ports.verifyUserToken(token);
  if (verified?.accountId !== caller.accountId) throw new AppError('INVALID_USER_TOKEN');
  request.userTokenId = verified.tokenId;
}
