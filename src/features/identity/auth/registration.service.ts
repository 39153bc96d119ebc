import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { lookupEmail } from '../../../kernel/email.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { hashSecret, newSecret } from '../../../platform/tokens.ts';
import * as repository from './registration.repository.ts';

/** Rules for registration in the dashboard (docs/concepts/authentication.md#registration). */
export interface Registration {
  terms(): { mode: RegistrationMode; termsUrl: string | null; passwordMinLength: number };
  /**
   * @returns a function that consumes the invitation in the transaction of the account.
   * @throws {AppError} REGISTRATION_CLOSED.
   */
  admit(input: { email: string; inviteToken?: string | undefined }): Promise<(tx: Tx) => Promise<void>>;
  /**
   * Creates an invitation for the operator: one-time, valid for seven days, and for this address.
   *
   * @throws {AppError} BAD_REQUEST, field `email`.
   */
  invite(email: string): Promise<{ email: string; url: string; expiresAt: Date }>;
  /**
   * Lets an invited address register, as an operator's invitation does; the caller creates and emails the
   * invitation.
   */
  allow(tx: Tx, invitation: { hash: Buffer; email: string; expiresAt: Date }): Promise<void>;
  /** Reverts `allow`. */
  disallow(tx: Tx, hash: Uint8Array): Promise<void>;
  cleanUp(): Promise<void>;
}

export type RegistrationMode = 'open' | 'invite' | 'closed';

const INVITE_MS = 7 * DAY_MS;
const WRONG_INVITE = 'The invitation is invalid, already used, expired, or for another email address.';

interface Deps {
  db: Db;
  clock: Clock;
  publicUrl: string;
  mode: RegistrationMode;
  termsUrl: string | null;
  passwordMinLength: number;
}

export function createRegistration(deps: Deps): Registration {
  const { db, clock, publicUrl, mode, termsUrl, passwordMinLength } = deps;
  return {
    terms: () => ({ mode, termsUrl, passwordMinLength }),
    async admit({ email, inviteToken }) {
      if (mode === 'open') return async () => {};
      if (mode === 'closed' || inviteToken === undefined) throw new AppError('REGISTRATION_CLOSED');
      const hash = hashSecret(inviteToken);
      // Checked first: hashing a password is too costly for a request without a valid invitation.
      const found = await repository.findValidInvite(db, hash, clock.now());
      if (found === undefined || found.email !== lookupEmail(email)) throw registrationClosedError();
      return async (tx) => {
        if (!(await repository.consumeInvite(tx, hash, clock.now()))) throw registrationClosedError();
      };
    },
    async invite(given) {
      const email = lookupEmail(given);
      if (email === null || !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) {
        throw badRequest('email', 'Enter a valid email address.');
      }
      const token = newSecret();
      const expiresAt = dateFromMs(clock.ms() + INVITE_MS);
      await repository.insertInvite(db, {
        hash: hashSecret(token),
        email,
        created_at: clock.now(),
        expires_at: expiresAt,
      });
      const query = new URLSearchParams({ invite: token, email });
      return { email, url: `${publicUrl}/dashboard/sign-up?${query}`, expiresAt };
    },
    async allow(tx, { hash, email, expiresAt }) {
      const invite = { hash, email, created_at: clock.now(), expires_at: expiresAt };
      await repository.insertInvite(tx, invite);
    },
    disallow: (tx, hash) => repository.deleteInvite(tx, hash),
    cleanUp: () => repository.deleteInvitesBefore(db, clock.now()),
  };
}

function registrationClosedError(): AppError {
  return new AppError('REGISTRATION_CLOSED', { field: 'inviteToken', message: WRONG_INVITE });
}
