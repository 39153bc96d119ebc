import type { Plan } from '../../kernel/plans.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Mode, Scope } from '../../platform/db/tables/accounts.ts';

export interface NewApiKey {
  id: string;
  workspace_id: string;
  account_id: string;
  name: string;
  hash: Uint8Array;
  prefix: string;
  last4: string;
  scope: Scope;
  permissions: string[];
  ip_allowlist: string[];
  domain_allowlist: string[];
  rate_limit_per_minute: number;
  daily_quota: number | null;
  expires_at: Date | null;
}

export async function insertKey(db: Db, key: NewApiKey): Promise<void> {
  await db
    .insertInto('api_key')
    .values({ ...key, revoked_at: null, last_used_at: null })
    .execute();
}

/** A key with all that authentication decides on. */
export function findByHash(db: Db, hash: Uint8Array) {
  return db
    .selectFrom('api_key')
    .innerJoin('workspace', 'workspace.id', 'api_key.workspace_id')
    .innerJoin('account', 'account.id', 'api_key.account_id')
    .select([
      'api_key.id',
      'api_key.workspace_id',
      'api_key.account_id',
      'api_key.scope',
      'api_key.permissions',
      'api_key.ip_allowlist',
      'api_key.domain_allowlist',
      'api_key.rate_limit_per_minute',
      'api_key.daily_quota',
      'api_key.expires_at',
      'api_key.revoked_at',
      'workspace.mode',
      'account.plan',
      'account.email_verified_at',
      'account.suspended_at',
    ])
    .where('api_key.hash', '=', hash)
    .executeTakeFirst();
}

export interface KeySummary {
  id: string;
  name: string;
  prefix: string;
  last4: string;
  scope: Scope;
  permissions: string[];
  mode: Mode;
  email: string;
  plan: Plan;
  expires_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
}

export function listKeys(db: Db, email?: string): Promise<KeySummary[]> {
  let query = db
    .selectFrom('api_key')
    .innerJoin('workspace', 'workspace.id', 'api_key.workspace_id')
    .innerJoin('account', 'account.id', 'api_key.account_id')
    .select([
      'api_key.id',
      'api_key.name',
      'api_key.prefix',
      'api_key.last4',
      'api_key.scope',
      'api_key.permissions',
      'workspace.mode',
      'account.email',
      'account.plan',
      'api_key.expires_at',
      'api_key.revoked_at',
      'api_key.created_at',
    ])
    .orderBy('api_key.id');
  if (email !== undefined) query = query.where('account.email', '=', email);
  return query.execute();
}

/** @returns whether there is such a key; revoking twice keeps the first time. */
export async function revokeKey(db: Db, id: string, at: Date): Promise<boolean> {
  const result = await db
    .updateTable('api_key')
    .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(at)) }))
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export function findWorkspace(db: Db, email: string, mode: Mode) {
  return db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['workspace.id', 'workspace.account_id'])
    .where('account.email', '=', email)
    .where('workspace.mode', '=', mode)
    .executeTakeFirst();
}
