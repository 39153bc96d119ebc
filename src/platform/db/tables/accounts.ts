import type { ColumnType, Generated } from 'kysely';
import type { Plan } from '../../../kernel/plans.ts';

export type Scope = 'READ_ONLY' | 'STANDARD' | 'FULL_ACCESS';
export type Mode = 'live' | 'test';

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
  created_at: Generated<Date>;
}

export interface WorkspaceTable {
  id: string;
  account_id: string;
  mode: Mode;
  created_at: Generated<Date>;
}

export interface ApiKeyTable {
  id: string;
  workspace_id: string;
  account_id: string;
  name: string;
  hash: ColumnType<Uint8Array, Uint8Array, never>;
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
  created_at: Generated<Date>;
}
