import { AppError } from '../../kernel/errors.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Passwords } from '../../platform/passwords.ts';
import type { AccountCredentials, AccountMaker, CredentialStore } from './accounts.ts';
import type { LoginBackoff } from './backoff.ts';
import type { MailLinks } from './links.service.ts';
import type { SignInPlaces } from './places.service.ts';
import { lookupEmail } from './rules.ts';
import type { AccessToken, UserToken, UserTokens } from './tokens.service.ts';
import type { TwoFactor } from './two-factor.service.ts';

/** What a sign-in answers (docs/api/authentication.md#sign-in). */
export interface SignedIn {
  tokens: AccessToken;
  user: { id: string; email: string; name: string | null; role: string };
}

/** Where a request comes from. */
interface From {
  ip: string;
}

export interface SignIn {
  /** @throws {AppError} INVALID_EMAIL, WEAK_PASSWORD, EMAIL_EXISTS (docs/api/authentication.md). */
  register(
    input: { email: string; password: string; name?: string | null | undefined },
    from: From,
  ): Promise<SignedIn>;
  /**
   * @throws {AppError} INVALID_CREDENTIALS, the same for an unknown address, a wrong password and a suspended
   * account; SECOND_FACTOR_REQUIRED with the challenge; SECOND_FACTOR_UNAVAILABLE; RATE_LIMITED after many failures.
   */
  login(input: { email: string; password: string }, from: From): Promise<SignedIn>;
  /** @throws {AppError} INVALID_CREDENTIALS for a wrong code and for a challenge that is used or expired. */
  completeLogin(input: { challengeId: string; code: string }, from: From): Promise<SignedIn>;
  /** Ends the user token. */
  logout(token: UserToken): Promise<void>;
}

interface Deps {
  db: Db;
  accounts: AccountMaker;
  credentials: CredentialStore;
  passwords: Passwords;
  tokens: Pick<UserTokens, 'issue' | 'end'>;
  places: Pick<SignInPlaces, 'note'>;
  twoFactor: Pick<TwoFactor, 'challenge' | 'answer'>;
  links: Pick<MailLinks, 'sendVerification'>;
  backoff: LoginBackoff;
  log: Logger;
}

export function createSignIn(deps: Deps): SignIn {
  const { db, accounts, credentials, tokens, places, twoFactor, links } = deps;

  const signIn = async (account: AccountCredentials, { ip }: From): Promise<SignedIn> => {
    const { id, email, name, role } = account;
    const issued = await tokens.issue(account, (tx) => places.note(tx, account, ip));
    return { tokens: issued, user: { id, email, name, role } };
  };
  const current = async (id: string) => {
    const account = await credentials.findById(db, id);
    if (account === undefined || account.suspended_at !== null) throw new AppError('INVALID_CREDENTIALS');
    return account;
  };

  return {
    async register({ email, password, name }, from) {
      const { id } = await accounts.create({ email, password, name, verified: false }, (tx, account) =>
        links.sendVerification(tx, account),
      );
      return signIn(await current(id), from);
    },
    async login(input, from) {
      const account = await checkPassword(deps, input);
      const challenge = await twoFactor.challenge(account.id);
      if (challenge === null) return signIn(account, from);
      throw new AppError('SECOND_FACTOR_REQUIRED', { beside: { twoFactorRequired: true, ...challenge } });
    },
    async completeLogin({ challengeId, code }, from) {
      return signIn(await current(await twoFactor.answer(challengeId, code)), from);
    },
    logout: (token) => tokens.end(token),
  };
}

/** Does the same work whatever is wrong, so that the time tells nothing either. */
async function checkPassword(
  deps: Deps,
  { email, password }: { email: string; password: string },
): Promise<AccountCredentials> {
  const { db, credentials, passwords, backoff } = deps;
  const address = lookupEmail(email);
  if (address !== null) await backoff.admit(address);
  // No account has the empty address, so it is looked up in vain.
  const account = await credentials.findByEmail(db, address ?? '');
  const { ok, stale } = await passwords.verify(password, account?.password_hash ?? null);
  if (account === undefined || !ok || account.suspended_at !== null) {
    if (address !== null) await backoff.failed(address);
    throw new AppError('INVALID_CREDENTIALS');
  }
  if (stale) await rehash(deps, account, password);
  return account;
}

/** The parameters of the hash have changed since it was made; a failure can wait for the next sign-in. */
async function rehash(
  { db, credentials, passwords, log }: Deps,
  account: AccountCredentials,
  password: string,
): Promise<void> {
  try {
    const hash = await passwords.hash(password);
    await credentials.replaceHash(db, account.id, account.password_hash, hash);
  } catch (error) {
    log.warn({ err: error, accountId: account.id }, 'a password hash was not renewed');
  }
}
