import type { Generated } from 'kysely';

export type LinkPurpose = 'VERIFY_EMAIL' | 'RESET_PASSWORD';
/** `KEPT`: there is no SMTP server, so the mail stays in the development mailbox. */
export type MailStatus = 'QUEUED' | 'SENT' | 'KEPT' | 'FAILED';

export interface SigningKeyTable {
  kid: string;
  private_key: Uint8Array;
  created_at: Date;
}

export interface TwoFactorTable {
  account_id: string;
  secret: Uint8Array;
  enabled_at: Date | null;
  last_step: Generated<number>;
  created_at: Date;
}

export interface RecoveryCodeTable {
  account_id: string;
  hash: string;
  used_at: Date | null;
}

export interface SignInChallengeTable {
  id: string;
  account_id: string;
  tries: Generated<number>;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface EmailTokenTable {
  hash: Uint8Array;
  account_id: string;
  purpose: LinkPurpose;
  email: string;
  created_at: Date;
  expires_at: Date;
  used_at: Date | null;
}

export interface LinkRequestTable {
  id: Generated<number>;
  purpose: LinkPurpose;
  email: string;
  created_at: Date;
}

export interface MailTable {
  id: string;
  kind: string;
  recipient: string;
  subject: string;
  body: Uint8Array | null;
  status: Generated<MailStatus>;
  attempts: Generated<number>;
  last_error: string | null;
  next_at: Date;
  created_at: Date;
  finished_at: Date | null;
}
