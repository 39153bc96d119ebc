import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { HOUR_MS } from '../../../kernel/durations.ts';
import { lookupEmail } from '../../../kernel/email.ts';
import { AppError, tooManyRequests } from '../../../kernel/errors.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { EmailLinkRequestPurpose as LinkPurpose } from '../../../platform/db/tables.generated.ts';
import { hashSecret, newSecret } from '../../../platform/tokens.ts';
import type { MailCaps } from '../../integration/mail/index.ts';
import type { CredentialStore } from './accounts.ts';
import * as repository from './email-links.repository.ts';
import { passwordChangedEmail, passwordResetEmail, verificationEmail } from './emails.ts';
import { NO_CREDENTIAL, type SignInRevocation } from './sign-ins.ts';
import { deleteChallengesOf } from './two-factor.repository.ts';

/**
 * Verification of addresses and new passwords by links in mails, each good once
 * (docs/decisions/authentication.md#email-links).
 */
export interface EmailLinks {
  /** Sends the link that confirms a new account's address; it is valid for 24 hours. */
  sendVerification(tx: Tx, account: { id: string; email: string }, ip: string): Promise<void>;
  /** Requests a link; takes the same time whether or not the account exists. */
  request(purpose: LinkPurpose, email: string): Promise<void>;
  /** Sends the requested links to existing accounts; the worker calls it. */
  sendRequested(): Promise<void>;
  /**
   * Sends the link that confirms the address again.
   *
   * @throws {AppError} CONFLICT when it is confirmed; RATE_LIMITED after three in an hour.
   */
  sendAgain(accountId: string): Promise<void>;
  isUsable(purpose: LinkPurpose, token: string): Promise<boolean>;
  /** @returns false when the link is unknown, used or expired. */
  verifyEmail(token: string): Promise<boolean>;
  /**
   * Sets the password, signs the account out everywhere, and emails the owner.
   *
   * @returns false when the link is unknown, used or expired.
   * @throws {AppError} WEAK_PASSWORD.
   */
  resetPassword(token: string, password: string): Promise<boolean>;
  cleanUp(): Promise<void>;
}

/** Outbox for emails. */
export interface MailOutbox {
  enqueue(tx: Tx, mail: { kind: string; to: string; subject: string; text: string }): Promise<void>;
}

const LIFE_MS: Record<LinkPurpose, number> = { VERIFY_EMAIL: 24 * HOUR_MS, RESET_PASSWORD: HOUR_MS };
const PATHS: Record<LinkPurpose, string> = {
  VERIFY_EMAIL: '/verify-email',
  RESET_PASSWORD: '/reset-password',
};
/** Maximum links per account and hour. */
export const LINKS_PER_HOUR = 3;
const RETENTION_MS = 30 * 24 * HOUR_MS;
/** Maximum requests per run, so that a flood of requests does not delay the shutdown. */
const REQUESTS_PER_RUN = 100;

interface Deps {
  db: Db;
  credentials: CredentialStore;
  clock: Clock;
  mailbox: MailOutbox;
  mailCaps: MailCaps;
  signIns: Pick<SignInRevocation, 'endAll'>;
  /** @throws {AppError} WEAK_PASSWORD. */
  hashPassword(password: string): Promise<string>;
  /** Called when an account has changed in ways that affect its API keys. */
  onAccountChanged(): void;
  publicUrl: string;
}

export function createEmailLinks(deps: Deps): EmailLinks {
  const { db, clock, credentials } = deps;
  return {
    async sendVerification(tx, account, ip) {
      await deps.mailCaps.from({ ip })(account.email);
      await sendLink(deps, tx, 'VERIFY_EMAIL', account);
    },
    async request(purpose, email) {
      const address = lookupEmail(email);
      if (address !== null) await repository.insertRequest(db, purpose, address, clock.now());
    },
    async sendRequested() {
      if (!(await repository.hasRequest(db))) return;
      for (let count = 0; count < REQUESTS_PER_RUN; count++) {
        if (!(await db.transaction().execute((tx) => answerRequest(deps, tx)))) return;
      }
    },
    sendAgain: (accountId) => db.transaction().execute((tx) => sendAgain(deps, tx, accountId)),
    async isUsable(purpose, token) {
      const row = await repository.findValidToken(db, hashSecret(token), purpose, clock.now());
      return row !== undefined;
    },
    async verifyEmail(token) {
      const done = await db.transaction().execute(async (tx) => {
        const link = await takeLink(deps, tx, 'VERIFY_EMAIL', token);
        return link !== undefined && credentials.markVerified(tx, link.account_id, link.email, clock.now());
      });
      if (done) deps.onAccountChanged();
      return done;
    },
    resetPassword: (token, password) => resetPassword(deps, token, password),
    cleanUp: () => repository.deleteTokensBefore(db, dateFromMs(clock.ms() - RETENTION_MS)),
  };
}

function takeLink({ clock }: Deps, tx: Tx, purpose: LinkPurpose, token: string) {
  return repository.consumeToken(tx, hashSecret(token), purpose, clock.now());
}

async function sendLink(
  { clock, mailbox, publicUrl }: Deps,
  tx: Tx,
  purpose: LinkPurpose,
  { id, email }: { id: string; email: string },
): Promise<void> {
  const token = newSecret();
  await repository.insertToken(tx, {
    hash: hashSecret(token),
    account_id: id,
    purpose,
    email,
    created_at: clock.now(),
    expires_at: dateFromMs(clock.ms() + LIFE_MS[purpose]),
  });
  const link = `${publicUrl}${PATHS[purpose]}?token=${token}`;
  await mailbox.enqueue(
    tx,
    purpose === 'VERIFY_EMAIL' ? verificationEmail(email, link) : passwordResetEmail(email, link),
  );
}

async function sendAgain(deps: Deps, tx: Tx, accountId: string): Promise<void> {
  const account = await deps.credentials.findById(tx, accountId);
  if (account === undefined || account.email_verified_at !== null) {
    throw new AppError('CONFLICT', { message: 'The email address is already verified.' });
  }
  const since = deps.clock.ms() - HOUR_MS;
  const { count, oldest } = await repository.countTokens(tx, accountId, 'VERIFY_EMAIL', dateFromMs(since));
  if (count >= LINKS_PER_HOUR) throw tooManyRequests('RATE_LIMITED', (oldest?.getTime() ?? since) - since);
  await deps.mailCaps.from({ actorId: accountId })(account.email);
  await sendLink(deps, tx, 'VERIFY_EMAIL', account);
}

/** @returns false when no request is left. */
async function answerRequest(deps: Deps, tx: Tx): Promise<boolean> {
  const request = await repository.claimNextRequest(tx);
  if (request === undefined) return false;
  const account = await deps.credentials.findByEmail(tx, request.email);
  if (account === undefined || account.suspended_at !== null) return true;
  if (request.purpose === 'VERIFY_EMAIL' && account.email_verified_at !== null) return true;
  const since = dateFromMs(deps.clock.ms() - HOUR_MS);
  const { count: sent } = await repository.countTokens(tx, account.id, request.purpose, since);
  // Its sender was counted at the request.
  const isMailed = sent < LINKS_PER_HOUR && (await deps.mailCaps.mayMail(account.email, null));
  if (isMailed) await sendLink(deps, tx, request.purpose, account);
  return true;
}

async function resetPassword(deps: Deps, token: string, password: string): Promise<boolean> {
  const { db, clock, credentials, mailbox, publicUrl } = deps;
  const hash = hashSecret(token);
  // Checked first: hashing a password is too costly for a request without a valid link.
  const usable = await repository.findValidToken(db, hash, 'RESET_PASSWORD', clock.now());
  if (usable === undefined) return false;
  const passwordHash = await deps.hashPassword(password);
  const done = await db.transaction().execute(async (tx) => {
    const link = await takeLink(deps, tx, 'RESET_PASSWORD', token);
    if (link === undefined) return false;
    await credentials.changePassword(tx, link.account_id, passwordHash);
    // Access to the mailbox proves ownership of the address.
    await credentials.markVerified(tx, link.account_id, link.email, clock.now());
    await repository.voidTokens(tx, link.account_id, ['RESET_PASSWORD'], clock.now());
    await deleteChallengesOf(tx, link.account_id);
    await deps.signIns.endAll(tx, link.account_id, NO_CREDENTIAL);
    await mailbox.enqueue(tx, passwordChangedEmail(link.email, `${publicUrl}/forgot-password`));
    return true;
  });
  if (done) deps.onAccountChanged();
  return done;
}
