import { type RawBuilder, sql } from 'kysely';
import type { Mode, Scope, TeamRole } from '../../../kernel/access.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Plan } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageByIndexOrder } from '../../../platform/db/page-filters.ts';

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
  created_by_key_id: string | null;
  /** Member who creates it; null for the owner. */
  created_by: string | null;
  created_at: Date;
}

export async function insertKey(db: Db, key: NewApiKey): Promise<void> {
  await db
    .insertInto('api_key')
    .values({ ...key, revoked_at: null, last_used_at: null })
    .execute();
}

const GRANT = [
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
  'maker.suspended_at as maker_suspended_at',
  'team_member.team_role',
] as const;

/** @param maker of the secret. */
function selectGrants(db: Db, maker: RawBuilder<string | null>) {
  return db
    .selectFrom('api_key')
    .innerJoin('workspace', 'workspace.id', 'api_key.workspace_id')
    .innerJoin('account', 'account.id', 'api_key.account_id')
    .leftJoin('account as maker', (join) => join.on('maker.id', '=', maker))
    .leftJoin('team_member', (join) =>
      join.onRef('team_member.account_id', '=', 'api_key.account_id').on('team_member.user_id', '=', maker),
    )
    .select([...GRANT, maker.as('created_by')]);
}

type Grant = NonNullable<Awaited<ReturnType<ReturnType<typeof selectGrants>['executeTakeFirst']>>>;
/** Key with the data that authentication needs. */
export type GrantRow = Grant & { retires_at: Date | null };

/** Finds a key by its current secret, or by a retired one. */
export async function findByHash(db: Db, hash: Uint8Array): Promise<GrantRow | undefined> {
  const present = selectGrants(db, sql<string | null>`api_key.created_by`);
  const row = await present.where('api_key.hash', '=', hash).executeTakeFirst();
  if (row !== undefined) return { ...row, retires_at: null };
  return selectGrants(
    db,
    sql<string | null>`(select created_by from api_key_retired_secret where hash = ${hash})`,
  )
    .innerJoin('api_key_retired_secret as retired', 'retired.key_id', 'api_key.id')
    .select('retired.expires_at as retires_at')
    .where('retired.hash', '=', hash)
    .executeTakeFirst();
}

/** Returns those of the hashes (base64) that are a secret of a key, present or replaced. */
export async function existingHashes(db: Db, hashes: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ hash: string }>`
    with asked as (select text, decode(text, 'base64') as hash from unnest(${hashes}::text[]) text)
    select asked.text as hash from asked where exists (select from api_key where api_key.hash = asked.hash)
      or exists (select from api_key_retired_secret retired where retired.hash = asked.hash)`.execute(db);
  return rows.map(({ hash }) => hash);
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

/** Lists keys for the operator: of every account, or of the one with this email address. */
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

export function findWorkspace(db: Db, email: string, mode: Mode) {
  return db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['workspace.id', 'workspace.account_id'])
    .where('account.email', '=', email)
    .where('workspace.mode', '=', mode)
    .executeTakeFirst();
}

/** Finds the email address of the account owner; undefined while no email may be sent to it. */
export async function findOwnerAddress(tx: Tx, accountId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('account')
    .select('email')
    .where('id', '=', accountId)
    .where('email_verified_at', 'is not', null)
    .where('suspended_at', 'is', null)
    .executeTakeFirst();
  return row?.email;
}

/** Scope of visible keys: one workspace, or both of the account when it is null. */
export interface KeyOwner {
  accountId: string;
  workspaceId: string | null;
}

function selectKeys(db: Db) {
  return db
    .selectFrom('api_key')
    .innerJoin('workspace', 'workspace.id', 'api_key.workspace_id')
    .selectAll('api_key')
    .select('workspace.mode');
}

export type KeyRow = NonNullable<Awaited<ReturnType<ReturnType<typeof selectKeys>['executeTakeFirst']>>>;

function ownedKeys(db: Db, { accountId, workspaceId }: KeyOwner) {
  const query = selectKeys(db).where('api_key.account_id', '=', accountId);
  return workspaceId === null ? query : query.where('api_key.workspace_id', '=', workspaceId);
}

export function findKey(db: Db, owner: KeyOwner, id: string): Promise<KeyRow | undefined> {
  return ownedKeys(db, owner).where('api_key.id', '=', id).executeTakeFirst();
}

/** Locks a key of any account, for the operator. */
export function lockAnyKey(tx: Tx, id: string): Promise<KeyRow | undefined> {
  return selectKeys(tx).where('api_key.id', '=', id).forUpdate('api_key').executeTakeFirst();
}

export function lockKey(tx: Tx, owner: KeyOwner, id: string): Promise<KeyRow | undefined> {
  return ownedKeys(tx, owner).where('api_key.id', '=', id).forUpdate('api_key').executeTakeFirst();
}

/** Locks keys in ID order, as all functions that lock several keys do. */
export function lockKeys(tx: Tx, owner: KeyOwner, ids: readonly string[]): Promise<KeyRow[]> {
  return ownedKeys(tx, owner)
    .where('api_key.id', 'in', ids)
    .orderBy('api_key.id')
    .forUpdate('api_key')
    .execute();
}

/**
 * Locks this key, if it belongs to the account, and the keys that the member created for the account, in ID
 * order.
 */
export async function lockKeyAndChildren(
  tx: Tx,
  accountId: string,
  { id, userId }: { id: string; userId: string },
): Promise<void> {
  await ownedKeys(tx, { accountId, workspaceId: null })
    .where((eb) => eb.or([eb('api_key.id', '=', id), eb('api_key.created_by', '=', userId)]))
    .orderBy('api_key.id')
    .forUpdate('api_key')
    .execute();
}

/** Locks the keys that a member created for an account and that are not revoked. */
export function lockKeysCreatedBy(tx: Tx, accountId: string, userId: string): Promise<KeyRow[]> {
  return ownedKeys(tx, { accountId, workspaceId: null })
    .where('api_key.created_by', '=', userId)
    .where('api_key.revoked_at', 'is', null)
    .orderBy('api_key.id')
    .forUpdate('api_key')
    .execute();
}

/** Locks a session until the transaction ends. @returns whether it exists. */
export async function lockSession(tx: Tx, accountId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('user_session')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the role of a team member, share-locked until the transaction ends. */
export async function lockRole(tx: Tx, accountId: string, userId: string): Promise<TeamRole | undefined> {
  const row = await tx
    .selectFrom('team_member')
    .select('team_role')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .forShare()
    .executeTakeFirst();
  return row?.team_role;
}

export interface KeyFilter {
  mode?: Mode | undefined;
  /** True: neither revoked nor expired; false: one of the two. */
  isUsable?: boolean | undefined;
}

export async function listOwnKeys(
  db: Db,
  owner: KeyOwner,
  { mode, isUsable, now }: KeyFilter & { now: Date },
  page: PageRequest,
): Promise<KeyRow[]> {
  const workspaces = await workspacesOf(db, owner, mode);
  // An index covers keys that may be unusable.
  const isWanted = isUsable === false ? sql`${MAY_END} and not ${usableAt(now)}` : usableAt(now);
  const where = isUsable === undefined ? undefined : isWanted;
  const listed = { table: 'api_key', prefix: 'key', of: {}, where } as const;
  return selectKeys(db)
    .where(pageByIndexOrder(page, listed, { workspace_id: [workspaces, workspaces] }))
    .orderBy('api_key.id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

async function workspacesOf(db: Db, owner: KeyOwner, mode: Mode | undefined): Promise<string[]> {
  const { accountId, workspaceId } = owner;
  const rows = await db
    .selectFrom('workspace')
    .select('id')
    .where('account_id', '=', accountId)
    .$if(workspaceId !== null, (query) => query.where('id', '=', workspaceId ?? ''))
    .$if(mode !== undefined, (query) => query.where('mode', '=', mode ?? 'live'))
    .execute();
  return rows.map(({ id }) => id);
}

const MAY_END = sql`(api_key.revoked_at is not null or api_key.expires_at is not null)`;

const usableAt = (now: Date) =>
  sql<boolean>`(api_key.revoked_at is null and (api_key.expires_at is null or api_key.expires_at > ${now}))`;

/** Counts keys of a workspace that are neither revoked nor expired. */
export async function countActiveKeys(db: Db, workspaceId: string, now: Date): Promise<number> {
  const row = await db
    .selectFrom('api_key')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where(usableAt(now))
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function setRevoked(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.updateTable('api_key').set({ revoked_at: at }).where('id', '=', id).execute();
}

/** Replaces the secret of a key and its creator; earlier secrets are valid until `retireAt` at the latest. */
export async function replaceSecret(
  tx: Tx,
  key: Pick<KeyRow, 'id' | 'hash' | 'created_by'>,
  secret: { hash: Uint8Array; prefix: string; last4: string; created_by: string | null },
  retireAt: Date,
): Promise<void> {
  await tx
    .updateTable('api_key_retired_secret')
    .set((eb) => ({ expires_at: eb.fn<Date>('least', ['expires_at', eb.val(retireAt)]) }))
    .where('key_id', '=', key.id)
    .execute();
  await tx
    .insertInto('api_key_retired_secret')
    .values({ hash: key.hash, key_id: key.id, expires_at: retireAt, created_by: key.created_by })
    .execute();
  await tx.updateTable('api_key').set(secret).where('id', '=', key.id).execute();
}

/** Expires the retired secrets that a member created for an account. */
export async function expireRetiredSecretsOf(
  tx: Tx,
  { accountId, userId, at }: { accountId: string; userId: string; at: Date },
): Promise<void> {
  await tx
    .updateTable('api_key_retired_secret as retired')
    .from('api_key')
    .set({ expires_at: at })
    .whereRef('api_key.id', '=', 'retired.key_id')
    .where('api_key.account_id', '=', accountId)
    .where('retired.created_by', '=', userId)
    .where('retired.expires_at', '>', at)
    .execute();
}

export interface KeyUse {
  keyId: string;
  ip: string;
  at: Date;
}

/** Records uses, at most one a minute per key across nodes. */
export async function recordKeyUse(db: Db, uses: readonly KeyUse[]): Promise<void> {
  const ids = uses.map(({ keyId }) => keyId);
  const times = uses.map(({ at }) => at.toISOString());
  const ips = uses.map(({ ip }) => ip);
  await sql`
    update api_key set last_used_at = used.at, last_used_ip = used.ip
    from (
      select * from unnest(${ids}::text[], ${times}::text[]::timestamptz[], ${ips}::text[]) as u (id, at, ip)
      order by id
    ) as used
    where api_key.id = used.id
      and (last_used_at is null or last_used_at <= used.at - interval '60 seconds')`.execute(db);
}

/** Claims keys that expire before `until`, were not announced, and live longer than `lifeMs`. */
export function claimExpiring(tx: Tx, now: Date, until: Date, lifeMs: number): Promise<KeyRow[]> {
  return selectKeys(tx)
    .where('api_key.expires_at', '>', now)
    .where('api_key.expires_at', '<=', until)
    .where('api_key.revoked_at', 'is', null)
    .where('api_key.expiry_notified_at', 'is', null)
    .where(sql<boolean>`api_key.expires_at - api_key.created_at > ${lifeMs} * interval '1 millisecond'`)
    .orderBy('api_key.id')
    .limit(100)
    .forUpdate('api_key')
    .skipLocked()
    .execute();
}

export async function setExpiryNotified(tx: Tx, ids: readonly string[], at: Date): Promise<void> {
  await tx.updateTable('api_key').set({ expiry_notified_at: at }).where('id', 'in', ids).execute();
}
