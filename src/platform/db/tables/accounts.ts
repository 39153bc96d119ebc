import type { Generated } from 'kysely';
import type { Mode, Scope } from '../../../kernel/access.ts';
import type { Plan } from '../../../kernel/plans.ts';

export type EmbedMode = 'OPEN' | 'ALLOWLIST';

export interface AccountTable {
  id: string;
  email: string;
  password_hash: string;
  name: string | null;
  username: string;
  role: Generated<'USER' | 'ADMIN'>;
  plan: Generated<Plan>;
  email_verified_at: Date | null;
  suspended_at: Date | null;
  /** User tokens of an older epoch are refused. */
  token_epoch: Generated<number>;
  bio: Generated<string | null>;
  locale: Generated<string>;
  timezone: Generated<string>;
  embed_mode: Generated<EmbedMode>;
  embed_domains: Generated<string[]>;
  embed_updated_at: Generated<Date | null>;
  created_at: Generated<Date>;
}

export interface WorkspaceTable {
  id: string;
  account_id: string;
  mode: Mode;
  /** What its videos use or have reserved. */
  storage_bytes: Generated<number>;
  created_at: Generated<Date>;
}

export interface ApiKeyTable {
  id: string;
  workspace_id: string;
  account_id: string;
  name: string;
  hash: Uint8Array;
  prefix: string;
  last4: string;
  scope: Scope;
  permissions: Generated<string[]>;
  ip_allowlist: Generated<string[]>;
  domain_allowlist: Generated<string[]>;
  rate_limit_per_minute: number;
  daily_quota: number | null;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  last_used_ip: Generated<string | null>;
  created_by_key_id: Generated<string | null>;
  event_sequence: Generated<number>;
  expiry_announced_at: Generated<Date | null>;
  created_at: Generated<Date>;
}

export interface RetiredSecretTable {
  hash: Uint8Array;
  key_id: string;
  expires_at: Date;
}

export interface AvatarTable {
  id: string;
  account_id: string;
  image: Uint8Array;
  created_at: Date;
}
