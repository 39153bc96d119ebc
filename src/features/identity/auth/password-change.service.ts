import type { Clock } from '../../../kernel/clock.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { CredentialStore } from './accounts.ts';
import * as links from './email-links.repository.ts';
import type { MailOutbox } from './email-links.service.ts';
import { passwordChangedEmail } from './emails.ts';
import type { CredentialVerifier } from './identities.service.ts';
import type { Sessions } from './sessions.service.ts';
import type { Acting, SignInRevocation } from './sign-ins.ts';
import { deleteChallengesOf } from './two-factor.repository.ts';

/** Password change with the current password. */
export interface PasswordChange {
  /**
   * Changes the password. Ends every user token and session except the current ones, and emails the owner.
   *
   * @throws {AppError} INVALID_CREDENTIALS, WEAK_PASSWORD (field `newPassword`), RATE_LIMITED after many
   *   failures.
   */
  change(accountId: string, input: { password: string; newPassword: string }, acting: Acting): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  credentials: Pick<CredentialStore, 'changePassword' | 'findById'>;
  identities: Pick<CredentialVerifier, 'confirmPassword'>;
  sessions: Pick<Sessions, 'renew'>;
  signIns: SignInRevocation;
  mailbox: MailOutbox;
  /** @throws {AppError} WEAK_PASSWORD, for the field. */
  hashPassword(password: string, field: string): Promise<string>;
  /** Called when an account has changed in ways that affect its API keys. */
  onAccountChanged(): void;
  publicUrl: string;
}

export function createPasswordChange(deps: Deps): PasswordChange {
  const { db, clock, credentials, signIns, publicUrl } = deps;
  return {
    async change(id, { password, newPassword }, { sessionId, ip }) {
      await deps.identities.confirmPassword(id, password, { ip });
      const hash = await deps.hashPassword(newPassword, 'newPassword');
      await db.transaction().execute(async (tx) => {
        await credentials.changePassword(tx, id, hash);
        await links.voidTokens(tx, id, ['RESET_PASSWORD'], clock.now());
        await deleteChallengesOf(tx, id);
        await signIns.endAll(tx, id, { tokenId: null, sessionId });
        if (sessionId !== null) await deps.sessions.renew(tx, sessionId);
        const account = await credentials.findById(tx, id);
        if (account === undefined) return;
        await deps.mailbox.enqueue(tx, passwordChangedEmail(account.email, `${publicUrl}/forgot-password`));
      });
      signIns.forget();
      deps.onAccountChanged();
    },
  };
}
