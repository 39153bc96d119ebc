import type { TObject } from 'typebox';
import { noKey, sessionOnly } from '../../../http/access.ts';
import type { RequestContext } from '../../../http/context.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Limit, type Route } from '../../../http/route.ts';
import { Deleted, IdParams } from '../../../http/schema.ts';
import type { Caller, SessionActor } from '../../../kernel/access.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { HOUR_SEC } from '../../../kernel/durations.ts';
import type { EmailLinks } from './email-links.service.ts';
import type { Registration } from './registration.service.ts';
import { addressCap, MAX_REGISTRATIONS, MAX_SIGN_INS } from './routes.ts';
import { LoginIn, SecondFactorIn, SignedOut } from './schemas.ts';
import type { SessionSignIn, StartedSession } from './session-sign-in.service.ts';
import {
  currentSession,
  OpenSession,
  PasswordConfirmed,
  PasswordIn,
  RegistrationTerms,
  SessionRegisterIn,
  toSession,
  VerificationSent,
} from './sessions.schemas.ts';
import type { Sessions } from './sessions.service.ts';

interface Deps {
  sessions: Sessions;
  sessionSignIn: SessionSignIn;
  registration: Registration;
  links: Pick<EmailLinks, 'sendAgain'>;
  cursors: CursorCodec;
  /** Account as shown to its owner. */
  user: {
    schema: TObject;
    of(accountId: string): Promise<{ name: string | null; username: string; role: SessionActor['role'] }>;
  };
  /** Whether administrators read emails here because no mail server is configured. */
  keepsMails: boolean;
}

/** Limits of a route that checks a password, which allows guesses. */
const PASSWORD_CAPS: readonly Limit[] = [
  { bucket: 'session-password', per: 'key', max: 30, windowSec: HOUR_SEC, refusal: 'RATE_LIMITED' },
];
const Id = IdParams('uss', 'session');
const path = '/auth/session';
const SIGNS_IN = 'Sets the session cookie.';

/** The session of the dashboard (docs/concepts/authentication.md#sessions). */
export function sessionRoutes(deps: Deps): Route[] {
  return [...signInRoutes(deps), ...currentRoutes(deps), ...listRoutes(deps)];
}

async function describe({ sessions, user, keepsMails }: Deps, id: string, accountId: string) {
  const [owner, expiresAt, teams] = await Promise.all([
    user.of(accountId),
    sessions.expiresAt(accountId, id),
    sessions.teamsOf(accountId),
  ]);
  const own = { id: accountId, name: owner.name ?? owner.username, teamRole: 'OWNER' };
  return {
    user: owner,
    csrfToken: sessions.csrfToken(id),
    accounts: [own, ...teams],
    hasMailbox: keepsMails && owner.role === 'ADMIN',
    expiresAt: expiresAt.toISOString(),
  };
}

function signInRoutes(deps: Deps): Route[] {
  const { sessionSignIn, registration, user } = deps;
  const schema = currentSession(user.schema);
  const begin = async ({ session }: RequestContext<Caller | null>, started: StartedSession) => {
    session.set(started.token);
    return describe(deps, started.id, started.accountId);
  };
  return [
    defineRoute({
      ...noKey,
      operationId: 'auth.registrationTerms',
      method: 'GET',
      path: '/auth/registration',
      summary: 'Get registration settings',
      description: 'As configured by the operator (`REGISTRATION`, `TERMS_URL`).',
      reply: { status: 200, schema: RegistrationTerms },
      handler: async () => registration.terms(),
    }),
    defineRoute({
      ...noKey,
      ownOrigin: true,
      operationId: 'auth.startSession',
      method: 'POST',
      path,
      summary: 'Start a dashboard session',
      description: SIGNS_IN,
      limits: addressCap('session', MAX_SIGN_INS),
      body: LoginIn,
      reply: { status: 201, schema },
      errors: [
        'INVALID_CREDENTIALS',
        'SECOND_FACTOR_REQUIRED',
        'SECOND_FACTOR_UNAVAILABLE',
        'SERVICE_UNAVAILABLE',
      ],
      handler: async (context, { body }) => begin(context, await sessionSignIn.signIn(body, context)),
    }),
    defineRoute({
      ...noKey,
      ownOrigin: true,
      operationId: 'auth.startSessionSecondFactor',
      method: 'POST',
      path: `${path}/2fa`,
      summary: 'Complete a two-factor dashboard sign-in',
      description: `Allows five attempts per challenge, within 300 seconds. ${SIGNS_IN}`,
      limits: addressCap('session-second-factor', MAX_SIGN_INS),
      body: SecondFactorIn,
      reply: { status: 201, schema },
      errors: ['INVALID_CREDENTIALS'],
      handler: async (context, { body }) => begin(context, await sessionSignIn.completeSignIn(body, context)),
    }),
    defineRoute({
      ...noKey,
      ownOrigin: true,
      operationId: 'auth.registerSession',
      method: 'POST',
      path: `${path}/register`,
      summary: 'Register and start a dashboard session',
      description: `The email address must be verified through an emailed link; until then, the session can use only \`/auth/session\`. ${SIGNS_IN}`,
      limits: addressCap('session-register', MAX_REGISTRATIONS),
      body: SessionRegisterIn,
      reply: { status: 201, schema },
      errors: [
        'INVALID_EMAIL',
        'WEAK_PASSWORD',
        'EMAIL_EXISTS',
        'REGISTRATION_CLOSED',
        'SERVICE_UNAVAILABLE',
      ],
      handler: async (context, { body }) => begin(context, await sessionSignIn.register(body, context)),
    }),
  ];
}

function currentRoutes(deps: Deps): Route[] {
  const { sessions, sessionSignIn, links, user } = deps;
  return [
    defineRoute({
      ...sessionOnly,
      operationId: 'auth.getSession',
      skipSuccessLog: true,
      method: 'GET',
      path,
      summary: 'Get the current session',
      description: 'The account, the CSRF token for its pages, and when the session expires.',
      reply: { status: 200, schema: currentSession(user.schema) },
      handler: ({ caller }) => describe(deps, caller.actor.id, caller.accountId),
    }),
    defineRoute({
      ...sessionOnly,
      operationId: 'auth.endSession',
      method: 'DELETE',
      path,
      summary: 'End the current session',
      description:
        'Takes effect immediately on this node and within 5 seconds on others. Other sessions and API keys are not affected.',
      reply: { status: 200, schema: SignedOut },
      async handler({ caller, session }) {
        await sessions.end(caller.accountId, caller.actor.id);
        session.clear();
        return { signedOut: true };
      },
    }),
    defineRoute({
      ...sessionOnly,
      operationId: 'auth.confirmPassword',
      method: 'POST',
      path: `${path}/password`,
      summary: 'Confirm the password',
      description:
        'Valid for ten minutes for endpoints that return `PASSWORD_REQUIRED`. Signing in counts too.',
      limits: PASSWORD_CAPS,
      body: PasswordIn,
      reply: { status: 200, schema: PasswordConfirmed },
      errors: ['INVALID_CREDENTIALS', 'SERVICE_UNAVAILABLE'],
      async handler({ caller: { accountId, actor }, ip }, { body }) {
        const session = { accountId, id: actor.id };
        const until = await sessionSignIn.confirmPassword(session, body.password, { ip });
        return { confirmedUntil: until.toISOString() };
      },
    }),
    defineRoute({
      ...sessionOnly,
      operationId: 'auth.sendVerification',
      method: 'POST',
      path: `${path}/verification`,
      summary: 'Resend the verification email',
      description: 'At most three links per hour. Returns 409 if the address is already verified.',
      reply: { status: 200, schema: VerificationSent },
      errors: ['CONFLICT'],
      async handler({ caller }) {
        await links.sendAgain(caller.accountId);
        return { sent: true };
      },
    }),
  ];
}

function listRoutes({ sessions, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...sessionOnly,
      operationId: 'auth.listSessions',
      method: 'GET',
      path: '/auth/sessions',
      summary: 'List sessions',
      description:
        'Active sessions: who signed in to the dashboard, from where, and when they were last active.',
      query: listQuery({}),
      reply: { status: 200, schema: OpenSession, list: true },
      async handler({ caller: { accountId, actor } }, { query }) {
        const list = new ListReader(cursors, `sessions:${accountId}`, query);
        return list.page(await sessions.list(accountId, list.request), (row) => toSession(row, actor.id));
      },
    }),
    defineRoute({
      ...sessionOnly,
      operationId: 'auth.endSessionById',
      method: 'DELETE',
      path: '/auth/sessions/{id}',
      summary: 'End a session',
      description: 'Takes effect immediately on this node and within 5 seconds on others.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller, session }, { params: { id } }) {
        await sessions.end(caller.accountId, id);
        if (id === caller.actor.id) session.clear();
        return { id, deleted: true };
      },
    }),
  ];
}
