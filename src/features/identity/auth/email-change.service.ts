import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest, tooManyRequests } from '../../../kernel/errors.ts';
import { type Db, type Tx, violatedConstraint } from '../../../platform/db/index.ts';
import { hashSecret, newSecret } from '../../../platform/tokens.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import type { CredentialStore } from './accounts.ts';
import type { From } from './backoff.ts';
import * as repository from './email-links.repository.ts';
import { LINKS_PER_HOUR, type MailOutbox } from './email-links.service.ts';
import { addressChangeNoticeEmail, confirmNewAddressEmail } from './emails.ts';
import type { CredentialVerifier } from './identities.service.ts';
import { NO_CREDENTIAL, type SignInRevocation } from './sign-ins.ts';
import { deleteChallengesOf } from './two-factor.repository.ts';

/**
 * Result of a link: unknown, used or expired (`EXPIRED`), or the address belongs to another account
 * (`TAKEN`).
 */
export type EmailChangeOutcome = 'DONE' | 'EXPIRED' | 'TAKEN';

/**
 * Another address for an account (docs/decisions/authentication.md#email-change): the new one confirms, the old one
 * can take it back for seven days.
 */
export interface EmailChange {
  /**
   * Emails both addresses.
   *
   * @throws {AppError} INVALID_CREDENTIALS, INVALID_EMAIL, BAD_REQUEST for the current address, EMAIL_EXISTS,
   *   RATE_LIMITED after three in an hour.
   */
  ask(accountId: string, input: { email: string; password: string }, from: From): Promise<PendingEmailChange>;
  isUsable(purpose: Purpose, token: string): Promise<boolean>;
  /** Confirms the new address by the link that was sent to it. */
  confirm(token: string): Promise<EmailChangeOutcome>;
  /**
   * Restores the previous address by the link sent to it, sets the password, and signs the account out
   * everywhere.
   *
   * @throws {AppError} WEAK_PASSWORD.
   */
  takeBack(token: string, password: string): Promise<EmailChangeOutcome>;
}

type Purpose = 'CHANGE_EMAIL' | 'KEEP_EMAIL';

interface PendingEmailChange {
  email: string;
  pendingEmail: string;
  confirmBefore: Date;
}

const CONFIRM_MS = 24 * HOUR_MS;
const REVERT_WINDOW_MS = 7 * DAY_MS;

interface Deps {
  db: Db;
  clock: Clock;
  credentials: CredentialStore;
  identities: Pick<CredentialVerifier, 'confirmPassword'>;
  mailbox: MailOutbox;
  mailCaps: Pick<MailCaps, 'from'>;
  signIns: SignInRevocation;
  /** @throws {AppError} WEAK_PASSWORD. */
  hashPassword(password: string): Promise<string>;
  /** @throws {AppError} INVALID_EMAIL. */
  normaliseEmail(email: string): string;
  /** Called when an account has changed in ways that affect its API keys. */
  onAccountChanged(): void;
  publicUrl: string;
}

export function createEmailChange(deps: Deps): EmailChange {
  const { db, clock } = deps;
  return {
    async ask(accountId, { email: given, password }, from) {
      const email = deps.normaliseEmail(given);
      await deps.identities.confirmPassword(accountId, password, from);
      return db.transaction().execute((tx) => ask(deps, tx, accountId, email));
    },
    async isUsable(purpose, token) {
      return (await repository.findValidToken(db, hashSecret(token), purpose, clock.now())) !== undefined;
    },
    confirm: (token) => withUniqueEmail(deps, (tx) => confirm(deps, tx, token)),
    async takeBack(token, password) {
      // Checked first: hashing a password is too costly for a request without a valid link.
      const found = await repository.findValidToken(db, hashSecret(token), 'KEEP_EMAIL', clock.now());
      if (found === undefined) return 'EXPIRED';
      const hash = await deps.hashPassword(password);
      const outcome = await withUniqueEmail(deps, (tx) => takeBack(deps, tx, token, hash));
      deps.signIns.forget();
      return outcome;
    },
  };
}

async function withUniqueEmail(
  { db, onAccountChanged }: Deps,
  work: (tx: Tx) => Promise<EmailChangeOutcome>,
): Promise<EmailChangeOutcome> {
  try {
    const outcome = await db.transaction().execute(work);
    onAccountChanged();
    return outcome;
  } catch (error) {
    if (violatedConstraint(error) === 'account_email') return 'TAKEN';
    throw error;
  }
}

async function ask(deps: Deps, tx: Tx, accountId: string, email: string): Promise<PendingEmailChange> {
  const { credentials, clock, mailbox } = deps;
  const account = await credentials.findById(tx, accountId);
  if (account === undefined) throw new AppError('NOT_FOUND');
  if (account.email === email) throw badRequest('email', "This is already the account's email address.");
  const isTaken = (await credentials.findByEmail(tx, email)) !== undefined;
  if (isTaken || (await repository.isEmailReserved(tx, { email, by: accountId, now: clock.now() }))) {
    throw new AppError('EMAIL_EXISTS', { field: 'email' });
  }
  const since = clock.ms() - HOUR_MS;
  const { count, oldest } = await repository.countTokens(tx, accountId, 'CHANGE_EMAIL', dateFromMs(since));
  if (count >= LINKS_PER_HOUR) throw tooManyRequests('RATE_LIMITED', (oldest?.getTime() ?? since) - since);
  await deps.mailCaps.from({ actorId: accountId })(email);
  await repository.voidTokens(tx, accountId, ['CHANGE_EMAIL'], clock.now());
  await mailbox.enqueue(
    tx,
    confirmNewAddressEmail(email, await newLink(deps, tx, accountId, 'CHANGE_EMAIL', email)),
  );
  const back = await newLink(deps, tx, accountId, 'KEEP_EMAIL', account.email);
  await mailbox.enqueue(tx, addressChangeNoticeEmail(account.email, { email, state: 'ASKED' }, back));
  return { email: account.email, pendingEmail: email, confirmBefore: dateFromMs(clock.ms() + CONFIRM_MS) };
}

async function newLink(
  { clock, publicUrl }: Deps,
  tx: Tx,
  accountId: string,
  purpose: Purpose,
  email: string,
): Promise<string> {
  const token = newSecret();
  await repository.insertToken(tx, {
    hash: hashSecret(token),
    account_id: accountId,
    purpose,
    email,
    created_at: clock.now(),
    expires_at: dateFromMs(clock.ms() + (purpose === 'KEEP_EMAIL' ? REVERT_WINDOW_MS : CONFIRM_MS)),
  });
  return `${publicUrl}${purpose === 'KEEP_EMAIL' ? '/keep-email' : '/change-email'}?token=${token}`;
}

async function confirm(deps: Deps, tx: Tx, token: string): Promise<EmailChangeOutcome> {
  const { credentials, clock, mailbox } = deps;
  const link = await repository.consumeToken(tx, hashSecret(token), 'CHANGE_EMAIL', clock.now());
  const account = link && (await credentials.findById(tx, link.account_id));
  if (link === undefined || account === undefined || account.suspended_at !== null) return 'EXPIRED';
  const { id } = account;
  if (await repository.isEmailReserved(tx, { email: link.email, by: id, now: clock.now() })) return 'TAKEN';
  await credentials.changeEmail(tx, id, link.email, clock.now());
  // Links sent to the previous address no longer prove anything about the account.
  await repository.voidTokens(tx, id, ['VERIFY_EMAIL', 'RESET_PASSWORD'], clock.now());
  const back = await newLink(deps, tx, id, 'KEEP_EMAIL', account.email);
  await mailbox.enqueue(
    tx,
    addressChangeNoticeEmail(account.email, { email: link.email, state: 'DONE' }, back),
  );
  return 'DONE';
}

async function takeBack(deps: Deps, tx: Tx, token: string, hash: string): Promise<EmailChangeOutcome> {
  const { credentials, clock, signIns } = deps;
  const link = await repository.consumeToken(tx, hashSecret(token), 'KEEP_EMAIL', clock.now());
  if (link === undefined) return 'EXPIRED';
  const { account_id: id, created_at: since } = link;
  await credentials.changeEmail(tx, id, link.email, clock.now());
  await credentials.changePassword(tx, id, hash);
  await repository.voidTokens(tx, id, ['CHANGE_EMAIL', 'VERIFY_EMAIL', 'RESET_PASSWORD'], clock.now());
  // Later owners of the account lose their links to restore an address; earlier ones keep theirs.
  await repository.voidTokens(tx, id, ['KEEP_EMAIL'], clock.now(), since);
  await deleteChallengesOf(tx, id);
  await signIns.endAll(tx, id, NO_CREDENTIAL);
  return 'DONE';
}
