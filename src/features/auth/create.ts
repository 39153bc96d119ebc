import type { Clock } from '../../kernel/clock.ts';
import type { Bus } from '../../platform/bus.ts';
import type { Counter } from '../../platform/counters.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Passwords } from '../../platform/passwords.ts';
import type { Secrets } from '../../platform/secrets.ts';
import type { AccountMaker, CredentialStore } from './accounts.ts';
import { createLoginBackoff } from './backoff.ts';
import { createMailLinks, type MailLinks, type MailOutbox } from './links.service.ts';
import { createSignInPlaces, type SignInPlaces } from './places.service.ts';
import { createSignIn, type SignIn } from './service.ts';
import { createUserTokens, type UserTokens } from './tokens.service.ts';
import { createTwoFactor, type TwoFactor } from './two-factor.service.ts';

export interface Auth {
  signIn: SignIn;
  tokens: UserTokens;
  twoFactor: TwoFactor;
  links: MailLinks;
  places: SignInPlaces;
}

interface Deps {
  db: Db;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  passwords: Passwords;
  accounts: AccountMaker & {
    /** @throws {AppError} WEAK_PASSWORD. */
    hashPassword(password: string): Promise<string>;
    credentials: CredentialStore;
  };
  bus: Bus;
  mailbox: MailOutbox;
  /** Counters by the length of their window, in seconds. */
  caps(windowSec: number): Counter;
  /** An account has changed in what its API keys depend on. */
  onAccountChanged(): void;
  /** Calls it when an account may have changed. */
  onAccountsChanged(listener: () => void): void;
  /** The issuer of tokens, and what links begin with. */
  publicUrl: string;
}

/** The parts of the feature, each knowing those it needs. */
export function createAuth(deps: Deps): Auth {
  const { credentials, hashPassword } = deps.accounts;
  const tokens = createUserTokens({ ...deps, credentials, issuer: deps.publicUrl });
  const twoFactor = createTwoFactor({ ...deps, credentials, tokens });
  const links = createMailLinks({ ...deps, credentials, hashPassword, tokens });
  const places = createSignInPlaces(deps);
  const backoff = createLoginBackoff(deps.caps);
  const signIn = createSignIn({ ...deps, credentials, tokens, places, twoFactor, links, backoff });
  return { signIn, tokens, twoFactor, links, places };
}
