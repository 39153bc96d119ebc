import { anyKey, requiresGate } from '../../../http/access.ts';
import type { RequestContext } from '../../../http/context.ts';
import { defineRoute, type Limit, type Route } from '../../../http/route.ts';
import { Deleted } from '../../../http/schema.ts';
import { HOUR_SEC } from '../../../kernel/durations.ts';
import {
  ConfirmIn,
  DisableIn,
  EnrolIn,
  Enrolment,
  LoginIn,
  RecoveryCodes,
  RegisterIn,
  SecondFactorIn,
  SignedIn,
  SignedOut,
  TwoFactorState,
} from './schemas.ts';
import type { SignIn } from './service.ts';
import type { Sessions } from './sessions.service.ts';
import type { Acting } from './sign-ins.ts';
import type { TwoFactor } from './two-factor.service.ts';

const QUARTER_SEC = 900;

/** Returns the limit per IP for sign-ins and other routes that check a password or create an account. */
export function addressCap(
  bucket: string,
  max: number,
  refusal: Limit['refusal'] = 'RATE_LIMITED',
): readonly [Limit] {
  return [{ bucket, per: 'ip', max, windowSec: QUARTER_SEC, refusal }];
}

function keyCap(bucket: string, max: number): readonly [Limit] {
  return [{ bucket, per: 'key', max, windowSec: HOUR_SEC, refusal: 'RATE_LIMITED' }];
}

export const MAX_SIGN_INS = 10;
export const MAX_REGISTRATIONS = 5;

/**
 * Limits of an endpoint that checks a password or a code (docs/concepts/authentication.md#limits): those of a login, in a
 * bucket of its own.
 */
export function credentialCaps(bucket: string): readonly Limit[] {
  return [...addressCap(bucket, MAX_SIGN_INS), ...keyCap(bucket, 100)];
}

/** The two limiters of this file whose body has `error` as a string (docs/concepts/conventions.md#errors). */
const LOGIN_CAPS = [...addressCap('login', MAX_SIGN_INS, 'text'), ...keyCap('login', 100)];
const REGISTER_CAPS = [...addressCap('register', MAX_REGISTRATIONS, 'text'), ...keyCap('register', 20)];
/** Limits of routes that check a password or a code, because each one allows guesses. */
const GUESS_CAPS: readonly Limit[] = [
  { bucket: 'two-factor', per: 'key', max: 30, windowSec: HOUR_SEC, refusal: 'RATE_LIMITED' },
];

/** `/auth/*` (docs/concepts/authentication.md): nothing of the key's workspace changes. */
export function authRoutes({
  signIn,
  sessions,
}: {
  signIn: SignIn;
  sessions: Pick<Sessions, 'end'>;
}): Route[] {
  return [
    defineRoute({
      ...anyKey,
      writes: false,
      operationId: 'auth.register',
      method: 'POST',
      path: '/auth/register',
      summary: 'Register an account',
      description:
        "The email address must be verified through an emailed link before the account's keys work.",
      limits: REGISTER_CAPS,
      body: RegisterIn,
      reply: { status: 201, schema: SignedIn, envelope: 'flat' },
      errors: ['INVALID_EMAIL', 'WEAK_PASSWORD', 'EMAIL_EXISTS', 'SERVICE_UNAVAILABLE'],
      handler: ({ ip }, { body }) => signIn.register(body, { ip }),
    }),
    defineRoute({
      ...anyKey,
      writes: false,
      operationId: 'auth.login',
      method: 'POST',
      path: '/auth/login',
      summary: 'Sign in',
      description:
        'Returns a token for `X-User-Token`, or 401 `SECOND_FACTOR_REQUIRED` with a challenge. Unknown addresses and wrong passwords return the same 401.',
      limits: LOGIN_CAPS,
      body: LoginIn,
      reply: { status: 200, schema: SignedIn, envelope: 'flat' },
      errors: [
        'INVALID_CREDENTIALS',
        'SECOND_FACTOR_REQUIRED',
        'SECOND_FACTOR_UNAVAILABLE',
        'SERVICE_UNAVAILABLE',
      ],
      handler: ({ ip }, { body }) => signIn.login(body, { ip }),
    }),
    defineRoute({
      ...anyKey,
      writes: false,
      operationId: 'auth.loginSecondFactor',
      method: 'POST',
      path: '/auth/login/2fa',
      summary: 'Complete a two-factor sign-in',
      description: 'Allows five attempts per challenge, within 300 seconds.',
      limits: credentialCaps('login-second-factor'),
      body: SecondFactorIn,
      reply: { status: 200, schema: SignedIn, envelope: 'flat' },
      errors: ['INVALID_CREDENTIALS'],
      handler: ({ ip }, { body }) => signIn.completeLogin(body, { ip }),
    }),
    defineRoute({
      ...requiresGate('user'),
      writes: false,
      operationId: 'auth.logout',
      method: 'POST',
      path: '/auth/logout',
      summary: 'Sign out',
      description:
        'Ends the user token in the request, or the current dashboard session. Takes effect immediately on this node and within 5 seconds on others. The API key stays valid.',
      reply: { status: 200, schema: SignedOut },
      async handler({ caller: { accountId, actor }, userTokenId: tokenId, session }) {
        if (tokenId !== null) await signIn.logout({ accountId, tokenId });
        if (actor.kind === 'session') {
          await sessions.end(accountId, actor.id);
          session.clear();
        }
        return { signedOut: true };
      },
    }),
  ];
}

/** Returns the credential that survives a change of the password or the second factor. */
export function currentCredential({ caller: { actor }, userTokenId, ip }: RequestContext): Acting {
  return { tokenId: userTokenId, sessionId: actor.kind === 'session' ? actor.id : null, ip };
}

/**
 * `/me/two-factor` (docs/guides/authentication.md#turn-on-two-factor-authentication): actions of the user, which need
 * `X-User-Token` or a session.
 */
export function twoFactorRoutes({ twoFactor }: { twoFactor: TwoFactor }): Route[] {
  const path = '/me/two-factor';
  return [
    defineRoute({
      ...requiresGate('user'),
      operationId: 'twoFactor.get',
      method: 'GET',
      path,
      summary: 'Get two-factor status',
      description: 'Returns whether two-factor authentication is enabled and how many recovery codes remain.',
      reply: { status: 200, schema: TwoFactorState },
      handler: ({ caller }) => twoFactor.state(caller.accountId),
    }),
    defineRoute({
      ...requiresGate('user'),
      onlyMode: 'live',
      operationId: 'twoFactor.enrol',
      method: 'POST',
      path,
      summary: 'Start authenticator enrollment',
      description: 'Takes effect only after confirmation. Starting again replaces the secret.',
      limits: GUESS_CAPS,
      body: EnrolIn,
      reply: { status: 201, schema: Enrolment },
      errors: ['INVALID_CREDENTIALS', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: ({ caller, ip }, { body }) => twoFactor.enrol(caller.accountId, body.password, { ip }),
    }),
    defineRoute({
      ...requiresGate('user'),
      onlyMode: 'live',
      operationId: 'twoFactor.confirm',
      method: 'POST',
      path: `${path}/confirm`,
      summary: 'Enable two-factor authentication',
      description: 'Ends all other user tokens and sessions of the account and notifies the owner by email.',
      limits: GUESS_CAPS,
      body: ConfirmIn,
      reply: { status: 200, schema: RecoveryCodes },
      errors: ['INVALID_CREDENTIALS', 'CONFLICT'],
      handler: async (context, { body }) => ({
        recoveryCodes: await twoFactor.confirm(
          context.caller.accountId,
          body.code,
          currentCredential(context),
        ),
      }),
    }),
    defineRoute({
      ...requiresGate('user'),
      onlyMode: 'live',
      operationId: 'twoFactor.disable',
      method: 'DELETE',
      path,
      summary: 'Disable two-factor authentication',
      description:
        'Ends all other user tokens and sessions of the account and notifies the owner by email. The response `id` is the account ID.',
      limits: GUESS_CAPS,
      body: DisableIn,
      reply: { status: 200, schema: Deleted },
      errors: ['INVALID_CREDENTIALS', 'NOT_FOUND', 'SERVICE_UNAVAILABLE'],
      async handler(context, { body }) {
        const { accountId } = context.caller;
        await twoFactor.disable(accountId, body, currentCredential(context));
        return { id: accountId, deleted: true };
      },
    }),
  ];
}
