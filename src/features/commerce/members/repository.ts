import type { Insertable } from 'kysely';
import type { Mode } from '../../../kernel/access.ts';
import { hasAny } from '../../../platform/db/has-any.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type {
  MemberLinkRequestTable,
  MemberLinkTable,
  MemberSessionTable,
} from '../../../platform/db/tables.generated.ts';

/** Finds the creator of a member page, including a suspended one, since members can still cancel. */
export function findCreator(db: Db, username: string, mode: Mode) {
  return db
    .selectFrom('account')
    .innerJoin('workspace', 'workspace.account_id', 'account.id')
    .select(['workspace.id as workspaceId', 'workspace.mode', 'account.username', 'account.name'])
    .where('account.username', '=', username)
    .where('workspace.mode', '=', mode)
    .executeTakeFirst();
}
export type Creator = NonNullable<Awaited<ReturnType<typeof findCreator>>>;

export async function insertRequest(db: Db, row: Insertable<MemberLinkRequestTable>): Promise<void> {
  await db.insertInto('member_link_request').values(row).execute();
}

/** Reports whether a request is waiting, including one that another worker handles. */
export function hasRequest(db: Db): Promise<boolean> {
  return hasAny(db, [db.selectFrom('member_link_request').select('id')]);
}

/** Claims the oldest request, which is deleted with the transaction. */
export async function claimNextRequest(tx: Tx) {
  const oldest = await tx
    .selectFrom('member_link_request')
    .select('id')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (oldest === undefined) return undefined;
  return tx
    .deleteFrom('member_link_request')
    .where('id', '=', oldest.id)
    .returning(['workspace_id', 'email'])
    .executeTakeFirst();
}

/** Finds the customer with this email address, and their creator. */
export function findCustomer(db: Db, workspaceId: string, email: string) {
  return db
    .selectFrom('customer')
    .innerJoin('workspace', 'workspace.id', 'customer.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['customer.id', 'customer.email', 'account.username', 'account.name', 'workspace.mode'])
    .where('customer.workspace_id', '=', workspaceId)
    .where('customer.email', '=', email)
    .executeTakeFirst();
}

export async function insertLink(tx: Tx, row: Insertable<MemberLinkTable>): Promise<void> {
  await tx.insertInto('member_link').values(row).execute();
}

export async function countLinks(tx: Tx, customerId: string, since: Date): Promise<number> {
  const { count } = await tx
    .selectFrom('member_link')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('customer_id', '=', customerId)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function isLinkValid(db: Db, hash: Buffer, workspaceId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('member_link')
    .innerJoin('customer', 'customer.id', 'member_link.customer_id')
    .select('member_link.customer_id')
    .where('member_link.token_hash', '=', hash)
    .where('member_link.used_at', 'is', null)
    .where('member_link.expires_at', '>', now)
    .where('customer.workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Consumes a link.
 *
 * @returns its customer.
 */
export async function consumeLink(
  tx: Tx,
  hash: Buffer,
  workspaceId: string,
  now: Date,
): Promise<string | undefined> {
  const row = await tx
    .updateTable('member_link')
    .set({ used_at: now })
    .where('token_hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where((eb) =>
      eb(
        'customer_id',
        'in',
        eb.selectFrom('customer').select('customer.id').where('workspace_id', '=', workspaceId),
      ),
    )
    .returning('customer_id')
    .executeTakeFirst();
  return row?.customer_id;
}

export async function insertSession(tx: Tx, row: Insertable<MemberSessionTable>): Promise<void> {
  await tx.insertInto('member_session').values(row).execute();
}

export function findSession(db: Db, hash: Buffer, workspaceId: string, now: Date) {
  return db
    .selectFrom('member_session')
    .innerJoin('customer', 'customer.id', 'member_session.customer_id')
    .select([
      'customer.id',
      'customer.email',
      'customer.method_ref',
      'customer.card_brand',
      'customer.card_last4',
      'customer.card_exp_month',
      'customer.card_exp_year',
    ])
    .where('member_session.token_hash', '=', hash)
    .where('member_session.workspace_id', '=', workspaceId)
    .where('member_session.expires_at', '>', now)
    .executeTakeFirst();
}
export type Member = NonNullable<Awaited<ReturnType<typeof findSession>>>;

export async function deleteSession(db: Db, hash: Buffer): Promise<void> {
  await db.deleteFrom('member_session').where('token_hash', '=', hash).execute();
}

/** Lists the charges of a member, newest first. */
export function listReceipts(db: Db, customerId: string, limit: number) {
  return db
    .selectFrom('purchase')
    .leftJoin('tier', 'tier.id', 'purchase.tier_id')
    .leftJoin('video', 'video.id', 'purchase.video_id')
    .select(['purchase.id', 'purchase.kind', 'purchase.status', 'purchase.amount_cents'])
    .select(['purchase.refunded_cents', 'purchase.paid_at', 'tier.name as tier', 'video.title as video'])
    .where('purchase.customer_id', '=', customerId)
    .where('purchase.paid_at', 'is not', null)
    .orderBy('purchase.id', 'desc')
    .limit(limit)
    .execute();
}
export type Receipt = Awaited<ReturnType<typeof listReceipts>>[number];

/** The tiers that a member may switch to. */
export function listTiers(db: Db, workspaceId: string) {
  return db
    .selectFrom('tier')
    .select(['id', 'name', 'price_cents', 'interval'])
    .where('workspace_id', '=', workspaceId)
    .where('is_active', '=', true)
    .where('archived_at', 'is', null)
    .orderBy('position')
    .orderBy('id')
    .execute();
}
export type OpenTier = Awaited<ReturnType<typeof listTiers>>[number];

export async function deleteExpired(db: Db, { links, now }: { links: Date; now: Date }): Promise<void> {
  await db.deleteFrom('member_link').where('expires_at', '<', links).execute();
  await db.deleteFrom('member_session').where('expires_at', '<', now).execute();
}
