import type { Clock } from '../../../kernel/clock.ts';
import { lookupEmail } from '../../../kernel/email.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { Plan } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Passwords } from '../../../platform/passwords.ts';
import type { AccountCreator, AccountCredentials, CredentialStore } from './accounts.ts';
import type { Attempt, From, LoginBackoff } from './backoff.ts';
import { isEmailReserved } from './email-links.repository.ts';
import type { EmailLinks } from './email-links.service.ts';
import type { TwoFactor } from './two-factor.service.ts';

export interface NewIdentity {
  email: string;
  password: string;
  name?: string | null | undefined;
  /** Terms that the person accepted. */
  termsUrl?: string | null;
}

/** Verification of a person, with which every sign-in begins. */
export interface CredentialVerifier {
  /**
   * Creates an account and emails its owner the link that confirms the address.
   *
   * @param from client that submitted the address.
   * @param also writes in the same transaction.
   * @throws {AppError} INVALID_EMAIL, WEAK_PASSWORD, EMAIL_EXISTS (docs/concepts/authentication.md);
   *   RATE_LIMITED.
   */
  make(
    input: NewIdentity,
    from: { ip: string },
    also?: (tx: Tx) => Promise<void>,
  ): Promise<AccountCredentials>;
  /**
   * @throws {AppError} INVALID_CREDENTIALS, the same for an unknown address, a wrong password and a suspended
   * account; SECOND_FACTOR_REQUIRED with the challenge; SECOND_FACTOR_UNAVAILABLE; RATE_LIMITED after many failures.
   */
  byPassword(input: { email: string; password: string }, from: From): Promise<AccountCredentials>;
  /** @throws {AppError} INVALID_CREDENTIALS for a wrong code and for a challenge that is used or expired. */
  byCode(input: { challengeId: string; code: string }): Promise<AccountCredentials>;
  /** @throws {AppError} INVALID_CREDENTIALS; RATE_LIMITED after many failures. */
  confirmPassword(accountId: string, password: string, from: From): Promise<void>;
}

interface Deps {
  db: Db;
  accounts: AccountCreator;
  credentials: CredentialStore;
  passwords: Passwords;
  twoFactor: Pick<TwoFactor, 'challenge' | 'answer'>;
  links: Pick<EmailLinks, 'sendVerification'>;
  backoff: LoginBackoff;
  log: Logger;
  clock: Clock;
  /** Plan of new accounts. */
  defaultPlan: Plan;
}

export function createIdentities(deps: Deps): CredentialVerifier {
  const { db, accounts, credentials, twoFactor, links, clock, defaultPlan: plan } = deps;
  const current = async (id: string) => {
    const account = await credentials.findById(db, id);
    if (account === undefined || account.suspended_at !== null) throw new AppError('INVALID_CREDENTIALS');
    return account;
  };
  return {
    async make({ email, password, name, termsUrl = null }, { ip }, also) {
      const address = lookupEmail(email);
      // The previous owner can still restore the address.
      if (address !== null && (await isEmailReserved(db, { email: address, by: null, now: clock.now() }))) {
        throw new AppError('EMAIL_EXISTS', { field: 'email' });
      }
      const terms = termsUrl === null ? undefined : { url: termsUrl, acceptedAt: clock.now() };
      const { id } = await accounts.create(
        { email, password, name, plan, verified: false, terms },
        async (tx, made) => {
          await also?.(tx);
          await links.sendVerification(tx, made, ip);
        },
      );
      return current(id);
    },
    async byPassword({ email, password }, { ip }) {
      const account = await checkPassword(deps, { email, ip }, password);
      const challenge = await twoFactor.challenge(account.id);
      if (challenge === null) return account;
      throw new AppError('SECOND_FACTOR_REQUIRED', { extra: { twoFactorRequired: true, ...challenge } });
    },
    byCode: async ({ challengeId, code }) => current(await twoFactor.answer(challengeId, code)),
    async confirmPassword(accountId, password, { ip }) {
      const { email } = await current(accountId);
      await checkPassword(deps, { email, ip }, password);
    },
  };
}

/** Verifies a password with constant work, so that the duration reveals nothing. */
async function checkPassword(
  deps: Deps,
  { email, ip }: Attempt,
  password: string,
): Promise<AccountCredentials> {
  const { db, credentials, passwords, backoff } = deps;
  const address = lookupEmail(email);
  if (address !== null) await backoff.admit({ email: address, ip });
  // No account has an empty address, so the lookup fails.
  const account = await credentials.findByEmail(db, address ?? '');
  const { ok, stale } = await passwords.verify(password, account?.password_hash ?? null);
  if (account === undefined || !ok || account.suspended_at !== null) {
    if (address !== null) await backoff.failed({ email: address, ip });
    throw new AppError('INVALID_CREDENTIALS');
  }
  if (stale) await rehash(deps, account, password);
  return account;
}

/** Updates a hash with outdated parameters; a failure is retried at the next sign-in. */
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
