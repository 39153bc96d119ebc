import { PASSWORD_CONFIRMATION_TTL_MS } from '../../../kernel/access.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import type { AccountCredentials } from './accounts.ts';
import type { CredentialVerifier, NewIdentity } from './identities.service.ts';
import type { Registration } from './registration.service.ts';
import type { RequestOrigin, Sessions } from './sessions.service.ts';
import type { SignInLocations } from './sign-in-locations.service.ts';

/** New session. */
export interface StartedSession {
  id: string;
  accountId: string;
  /** Value of its cookie. */
  token: string;
}

/** Sign-ins to the dashboard; they fail as `CredentialVerifier` does. */
export interface SessionSignIn {
  /** @throws {AppError} also REGISTRATION_CLOSED. */
  register(
    input: NewIdentity & { inviteToken?: string | undefined },
    from: RequestOrigin,
  ): Promise<StartedSession>;
  signIn(input: { email: string; password: string }, from: RequestOrigin): Promise<StartedSession>;
  completeSignIn(input: { challengeId: string; code: string }, from: RequestOrigin): Promise<StartedSession>;
  /** @returns until when the session may do what requires a password. */
  confirmPassword(
    session: { accountId: string; id: string },
    password: string,
    from: Pick<RequestOrigin, 'ip'>,
  ): Promise<Date>;
}

interface Deps {
  identities: CredentialVerifier;
  sessions: Pick<Sessions, 'start' | 'notePassword'>;
  places: Pick<SignInLocations, 'note'>;
  registration: Pick<Registration, 'admit' | 'terms'>;
  clock: Clock;
}

export function createSessionSignIn(deps: Deps): SessionSignIn {
  const { identities, sessions, places, registration, clock } = deps;
  const start = async (account: AccountCredentials, from: RequestOrigin): Promise<StartedSession> => {
    const begun = await sessions.start(account, from, (tx) => places.note(tx, account, from.ip));
    return { ...begun, accountId: account.id };
  };
  return {
    async register(input, from) {
      const take = await registration.admit(input);
      const { termsUrl } = registration.terms();
      return start(await identities.make({ ...input, termsUrl }, from, take), from);
    },
    signIn: async (input, from) => start(await identities.byPassword(input, from), from),
    completeSignIn: async (input, from) => start(await identities.byCode(input), from),
    async confirmPassword({ accountId, id }, password, from) {
      await identities.confirmPassword(accountId, password, from);
      await sessions.notePassword(id);
      return dateFromMs(clock.ms() + PASSWORD_CONFIRMATION_TTL_MS);
    },
  };
}
