import type { Plan } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';

/** Account data that a sign-in checks. */
export interface AccountCredentials {
  id: string;
  email: string;
  name: string | null;
  role: string;
  password_hash: string;
  suspended_at: Date | null;
  email_verified_at: Date | null;
  token_epoch: number;
}

/** Account data that sign-in reads and writes; the accounts feature owns the rows. */
export interface CredentialStore {
  findByEmail(db: Db, email: string): Promise<AccountCredentials | undefined>;
  findById(db: Db, id: string): Promise<AccountCredentials | undefined>;
  findTokenState(
    db: Db,
    id: string,
  ): Promise<Pick<AccountCredentials, 'token_epoch' | 'suspended_at'> | undefined>;
  /**
   * Replaces the hash of an unchanged password; does nothing when the password has changed in the meantime.
   */
  replaceHash(db: Db, id: string, from: string, to: string): Promise<void>;
  /** Sets a confirmed email address. @throws when another account has it. */
  changeEmail(tx: Tx, id: string, email: string, at: Date): Promise<void>;
  /** Sets a new password, which revokes all earlier user tokens and sessions. */
  changePassword(tx: Tx, id: string, hash: string): Promise<void>;
  /** @returns whether the account still has this address. */
  markVerified(tx: Tx, id: string, email: string, at: Date): Promise<boolean>;
}

/** Account creation for sign-in. */
export interface AccountCreator {
  passwordMinLength: number;
  /** @throws {AppError} INVALID_EMAIL, WEAK_PASSWORD, EMAIL_EXISTS. */
  create(
    input: {
      email: string;
      password: string;
      name?: string | null | undefined;
      plan: Plan;
      verified: boolean;
      terms?: { url: string; acceptedAt: Date } | undefined;
    },
    also: (tx: Tx, account: { id: string; email: string }) => Promise<void>,
  ): Promise<{ id: string }>;
}
