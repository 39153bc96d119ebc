import type { AccountCredentials } from './accounts.ts';
import type { From } from './backoff.ts';
import type { CredentialVerifier, NewIdentity } from './identities.service.ts';
import type { SignInLocations } from './sign-in-locations.service.ts';
import type { AccessToken, UserToken, UserTokens } from './tokens.service.ts';

/** Result of a sign-in (docs/concepts/authentication.md#sign-in). */
export interface SignedIn {
  tokens: AccessToken;
  user: { id: string; email: string; name: string | null; role: string };
}

/** Sign-ins that return a user token; they fail as `CredentialVerifier` does. */
export interface SignIn {
  register(input: NewIdentity, from: From): Promise<SignedIn>;
  login(input: { email: string; password: string }, from: From): Promise<SignedIn>;
  completeLogin(input: { challengeId: string; code: string }, from: From): Promise<SignedIn>;
  /** Ends the user token. */
  logout(token: UserToken): Promise<void>;
}

interface Deps {
  identities: CredentialVerifier;
  tokens: Pick<UserTokens, 'issue' | 'end'>;
  places: Pick<SignInLocations, 'note'>;
}

export function createSignIn({ identities, tokens, places }: Deps): SignIn {
  const signIn = async (account: AccountCredentials, { ip }: From): Promise<SignedIn> => {
    const { id, email, name, role } = account;
    const issued = await tokens.issue(account, (tx) => places.note(tx, account, ip));
    return { tokens: issued, user: { id, email, name, role } };
  };
  return {
    register: async (input, from) => signIn(await identities.make(input, from), from),
    login: async (input, from) => signIn(await identities.byPassword(input, from), from),
    completeLogin: async (input, from) => signIn(await identities.byCode(input), from),
    logout: (token) => tokens.end(token),
  };
}
