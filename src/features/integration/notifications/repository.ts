import { type Insertable, type Selectable, sql } from 'kysely';
import type { Mode } from '../../../kernel/access.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { NotificationChannels } from '../../../platform/db/json-columns.ts';
import { pageByIndexOrder, pagePerCombination } from '../../../platform/db/page-filters.ts';
import type {
  NotificationPreferenceTable,
  NotificationTable,
} from '../../../platform/db/tables.generated.ts';

export type NotificationRow = Selectable<NotificationTable>;
export type PreferenceRow = Omit<Selectable<NotificationPreferenceTable>, 'account_id'>;

export interface NotificationFilter {
  unread: boolean | undefined;
  /** Null is every type. */
  types: readonly string[] | null;
}

/** Account that is notified of events in a workspace. */
export interface Recipient {
  accountId: string;
  mode: Mode;
  /** Null while nothing may be mailed there: unverified or suspended. */
  email: string | null;
  preference: PreferenceRow | undefined;
}

export async function findRecipient(tx: Tx, workspaceId: string): Promise<Recipient | undefined> {
  const row = await tx
    .selectFrom('workspace')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select(['account.id', 'account.email', 'account.email_verified_at', 'account.suspended_at', 'mode'])
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const mayMail = row.email_verified_at !== null && row.suspended_at === null;
  return {
    accountId: row.id,
    mode: row.mode,
    email: mayMail ? row.email : null,
    preference: await findPreference(tx, row.id),
  };
}

export function findPreference(db: Db, accountId: string): Promise<PreferenceRow | undefined> {
  return db
    .selectFrom('notification_preference')
    .select(['email', 'in_app', 'types'])
    .where('account_id', '=', accountId)
    .executeTakeFirst();
}

export async function putPreference(
  db: Db,
  accountId: string,
  { email, inApp }: NotificationChannels,
  types: Readonly<Record<string, NotificationChannels>>,
): Promise<void> {
  const change = {
    email,
    in_app: inApp,
    types: sql<PreferenceRow['types']>`${JSON.stringify(types)}::jsonb`,
  };
  await db
    .insertInto('notification_preference')
    .values({ account_id: accountId, ...change })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(change))
    .execute();
}

export async function insertNotification(tx: Tx, row: Insertable<NotificationTable>): Promise<void> {
  await tx.insertInto('notification').values(row).execute();
}

/** Account that owns the notifications, and the member who reads them. */
export interface Reader {
  accountId: string;
  /** A member of the team; null for its owner, and for keys. */
  memberId: string | null;
}

const COLUMNS = [
  ...(['id', 'account_id', 'type', 'title', 'body', 'severity'] as const),
  ...(['resource_type', 'resource_id', 'action_url', 'created_at'] as const),
] as const;

/** When the reader has read it. */
function readAt({ memberId }: Reader) {
  return memberId === null
    ? sql<Date | null>`notification.read_at`
    : sql<Date | null>`(select reading.read_at from notification_read reading
        where reading.notification_id = notification.id and reading.user_id = ${memberId})`;
}

export function listNotifications(
  db: Db,
  reader: Reader,
  filter: NotificationFilter,
  page: PageRequest,
): Promise<NotificationRow[]> {
  return db
    .selectFrom('notification')
    .select(COLUMNS)
    .select(readAt(reader).as('read_at'))
    .where(onPage(reader, filter, page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

function onPage(reader: Reader, { unread, types }: NotificationFilter, page: PageRequest) {
  const isRead =
    unread === undefined ? sql`true` : sql`${readAt(reader)} ${unread ? sql`is null` : sql`is not null`}`;
  const listed = { table: 'notification', prefix: 'ntf', of: { account_id: reader.accountId } } as const;
  // Indexes cover the read and unread ones of the owner; a member's are stored in a separate table.
  const isIndexed = reader.memberId === null && unread !== undefined;
  if (types === null) {
    return (isIndexed ? pageByIndexOrder : pagePerCombination)(page, { ...listed, where: isRead }, {});
  }
  if (isIndexed && unread) {
    return pageByIndexOrder(page, { ...listed, where: sql`${isRead} and type = any(${types}::text[])` }, {});
  }
  return pageByIndexOrder(page, { ...listed, where: isRead }, { type: [types, types] });
}

export function findNotification(db: Db, reader: Reader, id: string): Promise<NotificationRow | undefined> {
  return db
    .selectFrom('notification')
    .select(COLUMNS)
    .select(readAt(reader).as('read_at'))
    .where('account_id', '=', reader.accountId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function countUnread(db: Db, reader: Reader): Promise<number> {
  const row = await db
    .selectFrom('notification')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', reader.accountId)
    .where(readAt(reader), 'is', null)
    .executeTakeFirstOrThrow();
  return row.count;
}

/**
 * The first reading stays.
 *
 * @param id null for all of them.
 * @returns how many were unread.
 */
export async function markRead(db: Db, reader: Reader, id: string | null, at: Date): Promise<number> {
  const { accountId, memberId } = reader;
  if (memberId === null) {
    const { numUpdatedRows } = await db
      .updateTable('notification')
      .set({ read_at: at })
      .where('account_id', '=', accountId)
      .$if(id !== null, (query) => query.where('id', '=', id ?? ''))
      .where('read_at', 'is', null)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('notification_read')
    .columns(['notification_id', 'user_id', 'read_at'])
    .expression((eb) =>
      eb
        .selectFrom('notification')
        .select(['id', eb.val(memberId).as('user_id'), eb.val(at).as('read_at')])
        .where('account_id', '=', accountId)
        .$if(id !== null, (query) => query.where('id', '=', id ?? '')),
    )
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows ?? 0n);
}

/** @returns whether there was such a notification. */
export async function deleteNotification(db: Db, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('notification')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes old notifications of every account. */
export async function deleteNotificationsBefore(db: Db, time: Date): Promise<void> {
  await db.deleteFrom('notification').where('created_at', '<', time).execute();
}
