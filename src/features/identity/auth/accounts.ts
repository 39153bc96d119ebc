import type { Plan } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';

/** What a sign-in decides on. */
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

/** Reads and writes what signing in needs of an account; the rows are not ours. */
export interface CredentialStore {
  findByEmail(db: Db, email: string): Promise<AccountCredentials | undefined>;
  findById(db: Db, id: string): Promise<AccountCredentials | undefined>;
  findTokenState(
    db: Db,
    id: string,
  ): Promise<Pick<AccountCredentials, 'token_epoch' | 'suspended_at'> | undefined>;
  /** Replaces the hash of an unchanged password; nothing when the password has been changed meanwhile. */
  replaceHash(db: Db, id: string, from: string, to: string): Promise<void>;
  /** The account has this address from here on, and it is confirmed. @throws where another account has it. */
  changeEmail(tx: Tx, id: string, email: string, at: Date): Promise<void>;
  /** A new password: every user token and session made so far is void. */
  changePassword(tx: Tx, id: string, hash: string): Promise<void>;
  /** @returns whether the account still has this address. */
  markVerified(tx: Tx, id: string, email: string, at: Date): Promise<boolean>;
}

/** Accounts as sign-in needs them. */
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
