import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import {
  baseCondition,
  type FilteredTable,
  idIn,
  pagePerCombination,
} from '../../../platform/db/page-filters.ts';
import { containsText, likePattern, searchPage } from '../../../platform/db/search.ts';
import {
  type SubscriberAddressTable,
  type SubscriberStatus,
  type SubscriberTable,
  VALUES,
} from '../../../platform/db/tables.generated.ts';

export type SubscriberRow = Selectable<SubscriberTable>;
export type AddressRow = Selectable<SubscriberAddressTable>;

export interface SubscriberFilters {
  statuses: readonly SubscriberStatus[] | undefined;
  /** Part of the email address or the name, in any case. */
  q: string | undefined;
}

/** Locks the stored state of an email address, so that changes of it on this list are serialized. */
export function lockAddress(tx: Tx, workspaceId: string, address: Buffer): Promise<AddressRow> {
  return tx
    .insertInto('subscriber_address')
    .values({
      workspace_id: workspaceId,
      email_hash: address,
      confirmation_sent_at: null,
      unsubscribed_at: null,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'email_hash']).doUpdateSet({ email_hash: address }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateAddress(
  tx: Tx,
  { workspace_id: workspaceId, email_hash: hash }: Pick<AddressRow, 'workspace_id' | 'email_hash'>,
  change: { confirmation_sent_at?: Date; unsubscribed_at?: Date | null },
): Promise<void> {
  await tx
    .updateTable('subscriber_address')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('email_hash', '=', hash)
    .execute();
}

/** Deletes addresses asked before this time; unsubscribed ones are retained. */
export async function deleteStaleAddresses(db: Db, before: Date): Promise<void> {
  await db
    .deleteFrom('subscriber_address')
    .where('unsubscribed_at', 'is', null)
    .where((eb) => eb.or([eb('confirmation_sent_at', '<', before), eb('confirmation_sent_at', 'is', null)]))
    .execute();
}

export function insertSubscriber(tx: Tx, row: Insertable<SubscriberTable>): Promise<SubscriberRow> {
  return tx.insertInto('subscriber').values(row).returningAll().executeTakeFirstOrThrow();
}

export function updateSubscriber(
  tx: Tx,
  id: string,
  change: Updateable<SubscriberTable>,
): Promise<SubscriberRow> {
  return tx
    .updateTable('subscriber')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Finds the email address on the lists of all workspaces. */
export function findEverywhere(db: Db, email: string): Promise<SubscriberRow[]> {
  return db.selectFrom('subscriber').selectAll().where('email', '=', email).execute();
}

export async function deleteSubscriber(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('subscriber').where('id', '=', id).execute();
}

/** Finds a subscriber. Call it under the lock of the address. */
export function findByEmail(tx: Tx, workspaceId: string, email: string): Promise<SubscriberRow | undefined> {
  return tx
    .selectFrom('subscriber')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('email', '=', email)
    .executeTakeFirst();
}

/** @param workspaceId absent when the caller has the emailed link. */
export function findSubscriber(db: Db, id: string, workspaceId?: string): Promise<SubscriberRow | undefined> {
  return db
    .selectFrom('subscriber')
    .selectAll()
    .where('id', '=', id)
    .$if(workspaceId !== undefined, (query) => query.where('workspace_id', '=', workspaceId ?? ''))
    .executeTakeFirst();
}

export function listSubscribers(
  db: Db,
  workspaceId: string,
  { statuses, q }: SubscriberFilters,
  page: PageRequest,
): Promise<SubscriberRow[]> {
  const listed = { table: 'subscriber', prefix: 'sbr', of: { workspace_id: workspaceId } } as const;
  return db
    .selectFrom('subscriber')
    .selectAll()
    .where(
      q === undefined
        ? pagePerCombination(page, listed, { status: [statuses, VALUES.subscriber.status] })
        : idIn(listed, searched({ statuses, q }, listed, page)),
    )
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Text of the index: email address and name. */
const TEXT = "(email || ' ' || coalesce(name, ''))";

function searched(
  { statuses, q }: SubscriberFilters & { q: string },
  listed: FilteredTable,
  page: PageRequest,
) {
  const pattern = likePattern(q);
  const isOf = statuses === undefined ? sql`true` : sql`status = any(${statuses}::text[])`;
  return searchPage(page, {
    table: 'subscriber',
    within: baseCondition(page, listed),
    matching: sql`${containsText(TEXT, q)} and (email ilike ${pattern} or name ilike ${pattern}) and ${isOf}`,
  });
}

/** Finds the creator whose list it is. */
export function findCreator(db: Db, workspaceId: string) {
  return db
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .leftJoin('channel', 'channel.workspace_id', 'workspace.id')
    .select((eb) => [
      eb.fn.coalesce('channel.display_name', 'account.name', 'account.username').as('name'),
      'account.suspended_at',
    ])
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirstOrThrow();
}
