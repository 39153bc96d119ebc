import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { AccountErasureTable } from '../../../platform/db/tables.generated.ts';
import type { Subject } from './rows.repository.ts';
import type { OutstandingSales, OwnCommitments } from './rules.ts';

export type ErasureRow = Selectable<AccountErasureTable>;

/** @returns false when an erasure of the account is scheduled already. */
export async function insertErasure(
  tx: Tx,
  row: Pick<ErasureRow, 'account_id' | 'requested_at' | 'due_at' | 'undo_token_hash'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('account_erasure')
    .values({ ...row, started_at: null, erased_at: null })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * Changes the due time and replaces the link hash, which voids the earlier link. @returns false when the
 * erasure has begun.
 */
export async function bringForward(
  tx: Tx,
  { account_id, due_at, undo_token_hash }: Pick<ErasureRow, 'account_id' | 'due_at' | 'undo_token_hash'>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('account_erasure')
    .set({ due_at, undo_token_hash })
    .where('account_id', '=', account_id)
    .where('started_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Finds the erasure that a valid link cancels. */
export function findCancelableErasure(db: Db, hash: Uint8Array): Promise<ErasureRow | undefined> {
  return db
    .selectFrom('account_erasure')
    .selectAll()
    .where('undo_token_hash', '=', hash)
    .where('started_at', 'is', null)
    .executeTakeFirst();
}

/** @returns the canceled erasure; undefined when there was none to cancel. */
export function cancelErasure(tx: Tx, hash: Uint8Array): Promise<ErasureRow | undefined> {
  return tx
    .deleteFrom('account_erasure')
    .where('undo_token_hash', '=', hash)
    .where('started_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Finds an erasure that is neither canceled nor done. */
export function findErasure(db: Db, accountId: string): Promise<ErasureRow | undefined> {
  return db
    .selectFrom('account_erasure')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('erased_at', 'is', null)
    .executeTakeFirst();
}

/** Marks the erasure as irreversible. @returns undefined when it was canceled or is done. */
export function begin(db: Db, accountId: string, at: Date): Promise<ErasureRow | undefined> {
  return db
    .updateTable('account_erasure')
    .set((eb) => ({ started_at: eb.fn.coalesce('started_at', eb.val(at)), undo_token_hash: null }))
    .where('account_id', '=', accountId)
    .where('erased_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export async function finish(tx: Tx, accountId: string, at: Date): Promise<void> {
  await tx
    .updateTable('account_erasure')
    .set({ erased_at: at })
    .where('account_id', '=', accountId)
    .execute();
}

export async function workspacesOf(db: Db, accountId: string): Promise<string[]> {
  const rows = await db.selectFrom('workspace').select('id').where('account_id', '=', accountId).execute();
  return rows.map(({ id }) => id);
}

/** Lists the teams of others in which the person is a member. */
export async function teamsOf(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('team_member')
    .select('account_id')
    .where('user_id', '=', userId)
    .execute();
  return rows.map((row) => row.account_id);
}

/** Condition of a payment in progress; one for a booking counts as a booking. */
const IS_PAYING = sql`reserved_until is not null and booking_id is null`;

/** Counts purchases by others that must end before an erasure; test workspaces are excluded. */
export async function countOutstandingSales(db: Db, accountId: string): Promise<OutstandingSales> {
  const { rows } = await sql<OutstandingSales>`
    with mine_live as (select id from workspace where account_id = ${accountId} and mode = 'live')
    select
      (select count(*)::int from subscription where workspace_id in (select id from mine_live)
        and status in ('TRIALING', 'ACTIVE', 'PAST_DUE')) as "soldSubscriptions",
      (select count(*)::int from booking where workspace_id in (select id from mine_live)
        and status in ('CONFIRMED', 'PENDING_PAYMENT')) as "comingBookings",
      (select count(*)::int from checkout where workspace_id in (select id from mine_live)
        and ${IS_PAYING}) as "payingBuyers"`.execute(db);
  return only(rows);
}

/** Counts the running commitments of the person; test workspaces are excluded. */
export async function countOwnSubscriptions(
  db: Db,
  { accountId, email }: { accountId: string; email: string },
): Promise<OwnCommitments> {
  const { rows } = await sql<OwnCommitments>`
    with others_live as (select id from workspace where account_id <> ${accountId} and mode = 'live')
    select
      (select count(*)::int from team_member where account_id = ${accountId}) as "teamMembers",
      (select count(*)::int from subscription
        where customer_id in (select id from customer where email = ${email}
            and workspace_id in (select id from others_live))
          and status in ('TRIALING', 'ACTIVE', 'PAST_DUE')) as "boughtSubscriptions",
      (select count(*)::int from booking where customer_email = ${email}
        and workspace_id in (select id from others_live)
        and status in ('CONFIRMED', 'PENDING_PAYMENT')) as "bookedTimes",
      (select count(*)::int from checkout where customer_email = ${email}
        and workspace_id in (select id from others_live) and ${IS_PAYING}) as "ownPayments",
      exists (select from account where id = ${accountId} and role = 'ADMIN') and not exists (
        select from account where id <> ${accountId} and role = 'ADMIN' and suspended_at is null) as "isLastAdmin"`.execute(
    db,
  );
  return only(rows);
}

function only<R>([row]: readonly R[]): R {
  if (row === undefined) throw new Error('a statement without a table has one row');
  return row;
}

/** Reports whether a stream, room or recording still adds media to the workspaces. */
export async function isBusy(db: Db, { workspaceIds }: Subject): Promise<boolean> {
  const { rows } = await sql`
    select 1 from stream where workspace_id in (${sql.join(workspaceIds)}) and (has_signal or is_live)
    union all
    select 1 from room where workspace_id in (${sql.join(workspaceIds)}) and status = 'ACTIVE'
    union all
    select 1 from recording where workspace_id in (${sql.join(workspaceIds)}) and settled_at is null
    union all
    select 1 from room_recording where workspace_id in (${sql.join(workspaceIds)}) and settled_at is null
    limit 1`.execute(db);
  return rows.length > 0;
}

/** Returns the keys of originals that are stored outside of the folder of their video. */
export async function originalKeys(db: Db, { workspaceIds }: Subject): Promise<string[]> {
  const rows = await db
    .selectFrom('video')
    .select('original_key')
    .where('workspace_id', 'in', workspaceIds)
    .where('original_key', 'is not', null)
    .execute();
  const former = await db
    .selectFrom('video_replacement')
    .innerJoin('video', 'video.id', 'video_replacement.video_id')
    .select('previous_original_key as original_key')
    .where('video.workspace_id', 'in', workspaceIds)
    .where('previous_original_key', 'is not', null)
    .execute();
  return [...rows, ...former].flatMap(({ original_key: key }) => (key === null ? [] : [key]));
}
