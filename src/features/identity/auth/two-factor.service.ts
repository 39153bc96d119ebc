import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';
import { AppError } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Passwords } from '../../../platform/passwords.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { CredentialStore } from './accounts.ts';
import type { From, LoginBackoff } from './backoff.ts';
import type { MailOutbox } from './email-links.service.ts';
import { twoFactorChangedEmail } from './emails.ts';
import * as rules from './rules.ts';
import type { Acting, CurrentCredential, SignInRevocation } from './sign-ins.ts';
import * as totp from './totp.ts';
import * as repository from './two-factor.repository.ts';

/**
 * TOTP codes and recovery codes (docs/decisions/authentication.md#two-factor-authentication). Wherever a code is asked
 * for, a recovery code is taken too, once. A wrong password or code is INVALID_CREDENTIALS everywhere.
 */
export interface TwoFactor {
  state(accountId: string): Promise<{ enabled: boolean; recoveryCodesLeft: number }>;
  /**
   * Starts an enrollment with a new secret, which has no effect until it is confirmed.
   *
   * @throws {AppError} INVALID_CREDENTIALS, CONFLICT when the second factor is on.
   */
  enrol(accountId: string, password: string, from: From): Promise<{ secret: string; otpauthUrl: string }>;
  /**
   * Enables the second factor, ends every other user token and session, and emails the owner.
   *
   * @param keep the current credential.
   * @returns the recovery codes, which are shown only once.
   * @throws {AppError} INVALID_CREDENTIALS, CONFLICT when there is nothing to confirm.
   */
  confirm(accountId: string, code: string, keep: CurrentCredential): Promise<string[]>;
  /**
   * Disables the second factor, with the same effects as enabling it.
   *
   * @throws {AppError} INVALID_CREDENTIALS, NOT_FOUND when the second factor is off.
   */
  disable(accountId: string, input: { password: string; code: string }, acting: Acting): Promise<void>;
  /**
   * @returns null when the account has no second factor, else the challenge for a correct password.
   * @throws {AppError} SECOND_FACTOR_UNAVAILABLE.
   */
  challenge(accountId: string): Promise<{ challengeId: string; expiresIn: number } | null>;
  /** @returns the account that signed in. @throws {AppError} INVALID_CREDENTIALS. */
  answer(challengeId: string, code: string): Promise<string>;
  /** Deletes old challenges. */
  cleanUp(): Promise<void>;
}

const CHALLENGE_SEC = 300;
const TRIES_PER_CHALLENGE = 5;
/**
 * Maximum wrong codes per account over all its challenges, because six digits can be guessed with enough
 * sign-ins.
 */
const TRIES_PER_HOUR = 30;

interface Deps {
  db: Db;
  credentials: Pick<CredentialStore, 'findById'>;
  passwords: Pick<Passwords, 'verify'>;
  backoff: LoginBackoff;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt' | 'sign'>;
  signIns: SignInRevocation;
  mailbox: MailOutbox;
  clock: Clock;
  publicUrl: string;
}

export function createTwoFactor(deps: Deps): TwoFactor {
  const { db, clock } = deps;
  return {
    async state(accountId) {
      const row = await repository.findTwoFactor(db, accountId);
      const enabled = row !== undefined && row.enabled_at !== null;
      return {
        enabled,
        recoveryCodesLeft: enabled ? await repository.countRecoveryCodes(db, accountId) : 0,
      };
    },
    async enrol(accountId, password, from) {
      const { email } = await assertPassword(deps, { accountId, password, ...from });
      const secret = totp.newSecret();
      const stored = deps.secrets.encrypt(secret, accountId);
      if (!(await repository.upsertEnrollment(db, accountId, stored, clock.now()))) throw alreadyOn();
      return { secret, otpauthUrl: totp.otpauthUrl(secret, email) };
    },
    async confirm(accountId, code, keep) {
      const codes = await db.transaction().execute(async (tx) => {
        const made = await enable(deps, tx, accountId, code);
        await changed(deps, tx, { accountId, keep, isOn: true });
        return made;
      });
      deps.signIns.forget();
      return codes;
    },
    async disable(accountId, { password, code }, { ip, ...keep }) {
      const { email } = await assertPassword(deps, { accountId, password, ip });
      const isOff = await db.transaction().execute(async (tx) => {
        const row = await repository.lockTwoFactor(tx, accountId);
        if (row === undefined || row.enabled_at === null) throw new AppError('NOT_FOUND');
        if (!(await useCode(deps, tx, row, code))) return false;
        await repository.remove(tx, accountId);
        await changed(deps, tx, { accountId, keep, isOn: false });
        return true;
      });
      if (!isOff) {
        await deps.backoff.failed({ email, ip });
        throw new AppError('INVALID_CREDENTIALS');
      }
      deps.signIns.forget();
    },
    challenge: (accountId) =>
      startChallenge(deps, accountId).catch((error: unknown) => {
        throw new AppError('SECOND_FACTOR_UNAVAILABLE', { cause: error });
      }),
    async answer(challengeId, code) {
      const accountId = await db.transaction().execute((tx) => tryCode(deps, tx, challengeId, code));
      if (accountId === null) throw new AppError('INVALID_CREDENTIALS');
      return accountId;
    },
    cleanUp: () => repository.deleteChallengesBefore(db, dateFromMs(clock.ms() - DAY_MS)),
  };
}

/** @returns the recovery codes. */
async function enable(deps: Deps, tx: Tx, accountId: string, code: string): Promise<string[]> {
  const { secrets, clock } = deps;
  const row = await repository.lockTwoFactor(tx, accountId);
  if (row === undefined) throw nothingToConfirm();
  if (row.enabled_at !== null) throw alreadyOn();
  const secret = secrets.decrypt(row.secret, accountId);
  const typed = rules.normaliseCode(code);
  // The time step stays unused, so that the person can sign in with the same code.
  if (!totp.isCode(typed) || totp.matchingTimeStep(secret, typed, clock.ms()) === null) {
    throw new AppError('INVALID_CREDENTIALS', { field: 'code', message: 'Incorrect code.' });
  }
  const codes = rules.newRecoveryCodes();
  const hashes = codes.map((one) => recoveryHash(deps, accountId, rules.normaliseCode(one)));
  await repository.enable(tx, accountId, clock.now(), hashes);
  return codes;
}

/** Ends the other sign-ins after a change of the second factor, and emails the owner. */
async function changed(
  { signIns, credentials, mailbox, publicUrl }: Deps,
  tx: Tx,
  { accountId, keep, isOn }: { accountId: string; keep: CurrentCredential; isOn: boolean },
): Promise<void> {
  await signIns.endAll(tx, accountId, keep);
  const account = await credentials.findById(tx, accountId);
  if (account === undefined || account.email_verified_at === null) return;
  await mailbox.enqueue(tx, twoFactorChangedEmail(account.email, isOn, `${publicUrl}/forgot-password`));
}

/** Validates the password; failures count with those of the login. */
async function assertPassword(
  { db, credentials, passwords, backoff }: Deps,
  { accountId, password, ip }: { accountId: string; password: string; ip: string },
) {
  const account = await credentials.findById(db, accountId);
  if (account === undefined) throw new AppError('INVALID_CREDENTIALS');
  const attempt = { email: account.email, ip };
  await backoff.admit(attempt);
  const { ok } = await passwords.verify(password, account.password_hash);
  if (ok) return account;
  await backoff.failed(attempt);
  throw new AppError('INVALID_CREDENTIALS');
}

async function startChallenge({ db, clock }: Deps, accountId: string) {
  const row = await repository.findTwoFactor(db, accountId);
  if (row === undefined || row.enabled_at === null) return null;
  const id = newId('sic');
  await repository.insertChallenge(db, {
    id,
    account_id: accountId,
    created_at: clock.now(),
    expires_at: dateFromMs(clock.ms() + CHALLENGE_SEC * 1000),
  });
  return { challengeId: id, expiresIn: CHALLENGE_SEC };
}

/** Returns null for a rejected code; the attempt is counted, so the transaction must still commit. */
async function tryCode(deps: Deps, tx: Tx, challengeId: string, code: string): Promise<string | null> {
  const now = deps.clock.now();
  const accountId = await repository.countAttempt(tx, challengeId, now, TRIES_PER_CHALLENGE);
  if (accountId === undefined) return null;
  const row = await repository.lockTwoFactor(tx, accountId);
  if (row === undefined || row.enabled_at === null) return null;
  const since = dateFromMs(deps.clock.ms() - HOUR_MS);
  if ((await repository.countTries(tx, accountId, since)) > TRIES_PER_HOUR) return null;
  if (!(await useCode(deps, tx, row, code))) return null;
  await repository.consumeChallenge(tx, challengeId, now);
  return accountId;
}

/** Validates and consumes a code; `row` is locked. */
async function useCode(deps: Deps, tx: Tx, row: repository.TwoFactorRow, code: string): Promise<boolean> {
  const { account_id: accountId } = row;
  const typed = rules.normaliseCode(code);
  if (totp.isCode(typed)) {
    const step = totp.matchingTimeStep(deps.secrets.decrypt(row.secret, accountId), typed, deps.clock.ms());
    return step !== null && repository.consumeTimeStep(tx, accountId, step);
  }
  const hash = recoveryHash(deps, accountId, typed);
  return repository.consumeRecoveryCode(tx, accountId, hash, deps.clock.now());
}

/** Returns a keyed hash, so that a database copy is not enough to guess codes. */
function recoveryHash({ secrets }: Deps, accountId: string, code: string): string {
  return secrets.sign('recovery code', `${accountId}.${code}`);
}

function alreadyOn(): AppError {
  return new AppError('CONFLICT', { message: 'Two-factor authentication is already enabled.' });
}

function nothingToConfirm(): AppError {
  return new AppError('CONFLICT', { message: 'Start enrollment first with POST /me/two-factor.' });
}
