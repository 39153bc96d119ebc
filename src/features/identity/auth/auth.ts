import type { Clock } from '../../../kernel/clock.ts';
import type { Plan } from '../../../kernel/plans.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Counter } from '../../../platform/counters.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Passwords } from '../../../platform/passwords.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import type { AccountCreator, CredentialStore } from './accounts.ts';
import { createLoginBackoff, type From } from './backoff.ts';
import { createEmailChange, type EmailChange } from './email-change.service.ts';
import { createEmailLinks, type EmailLinks, type MailOutbox } from './email-links.service.ts';
import { createIdentities } from './identities.service.ts';
import { createPasswordChange, type PasswordChange } from './password-change.service.ts';
import { createRegistration, type Registration, type RegistrationMode } from './registration.service.ts';
import { createSignIn, type SignIn } from './service.ts';
import { createSessionSignIn, type SessionSignIn } from './session-sign-in.service.ts';
import { createSessions, type Sessions } from './sessions.service.ts';
import { createSignInLocations, type SignInLocations } from './sign-in-locations.service.ts';
import { createSignIns, type SignInRevocation } from './sign-ins.ts';
import { createUserTokens, type UserTokens } from './tokens.service.ts';
import { createTwoFactor, type TwoFactor } from './two-factor.service.ts';

export interface Auth {
  signIn: SignIn;
  tokens: UserTokens;
  twoFactor: TwoFactor;
  links: EmailLinks;
  places: SignInLocations;
  sessions: Sessions;
  sessionSignIn: SessionSignIn;
  registration: Registration;
  addressChange: EmailChange;
  passwordChange: PasswordChange;
  signIns: SignInRevocation;
  /** @throws {AppError} INVALID_CREDENTIALS; RATE_LIMITED after many failures. */
  confirmPassword(accountId: string, password: string, from: From): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  passwords: Passwords;
  accounts: AccountCreator & {
    /** @throws {AppError} WEAK_PASSWORD, for the field. */
    hashPassword(password: string, field?: string): Promise<string>;
    /** @throws {AppError} INVALID_EMAIL. */
    normaliseEmail(email: string): string;
    credentials: CredentialStore;
  };
  bus: Bus;
  mailbox: MailOutbox;
  mailCaps: MailCaps;
  /** Returns counters by window length in seconds. */
  caps(windowSec: number): Counter;
  /** Called when an account has changed in ways that affect its API keys. */
  onAccountChanged(): void;
  /** Registers a listener for possible changes of accounts. */
  onAccountsChanged(listener: () => void): void;
  /** Issuer of tokens and base URL of links. */
  publicUrl: string;
  /** Plan of accounts that register. */
  defaultPlan: Plan;
  /** Policy for registration in the dashboard. */
  registrationMode: RegistrationMode;
  termsUrl: string | null;
}

/** Creates the services of the feature. */
export function createAuth(deps: Deps): Auth {
  const { credentials, hashPassword, normaliseEmail } = deps.accounts;
  const tokens = createUserTokens({ ...deps, credentials, issuer: deps.publicUrl });
  const sessions = createSessions(deps);
  const signIns = createSignIns({ tokens, sessions });
  const places = createSignInLocations(deps);
  const backoff = createLoginBackoff({
    ...deps,
    async isFamiliar({ email, ip }) {
      // An unknown account causes the same reads.
      const account = await credentials.findByEmail(deps.db, email);
      return places.isFamiliar(account?.id ?? '', ip);
    },
  });
  const twoFactor = createTwoFactor({ ...deps, credentials, signIns, backoff });
  const links = createEmailLinks({ ...deps, credentials, hashPassword, signIns });
  const identities = createIdentities({ ...deps, credentials, twoFactor, links, backoff });
  const signIn = createSignIn({ identities, tokens, places });
  const registration = createRegistration({
    ...deps,
    mode: deps.registrationMode,
    passwordMinLength: deps.accounts.passwordMinLength,
  });
  const sessionSignIn = createSessionSignIn({ ...deps, identities, sessions, places, registration });
  const changing = { ...deps, credentials, hashPassword, identities, signIns };
  const addressChange = createEmailChange({ ...changing, normaliseEmail });
  const passwordChange = createPasswordChange({ ...changing, sessions });
  const changes = { addressChange, passwordChange, signIns, confirmPassword: identities.confirmPassword };
  return { signIn, tokens, twoFactor, links, places, sessions, sessionSignIn, registration, ...changes };
}
