import { type Insertable, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type { ChatBanTable, ChatMessageTable } from '../../../platform/db/tables.generated.ts';

export type MessageRow = Selectable<ChatMessageTable>;
export type BanRow = Selectable<ChatBanTable>;

const SETTINGS = [
  'stream.id',
  'stream.workspace_id',
  'stream.chat_enabled',
  'stream.chat_mode',
  'stream.slow_mode_sec',
  'stream.banned_words',
  'stream.created_at',
  'workspace.account_id',
] as const;

/** Finds the chat settings of a stream in any workspace, because guests belong to none. */
export function findSettings(db: Db, streamId: string) {
  return db
    .selectFrom('stream')
    .innerJoin('workspace', 'workspace.id', 'stream.workspace_id')
    .select(SETTINGS)
    .where('stream.id', '=', streamId)
    .where('stream.deleted_at', 'is', null)
    .executeTakeFirst();
}

export type SettingsRow = NonNullable<Awaited<ReturnType<typeof findSettings>>>;

/**
 * Locks the chat settings until the transaction ends. Posts share the lock; a change of the settings waits
 * for them.
 */
export function lockSettings(tx: Tx, streamId: string): Promise<SettingsRow | undefined> {
  return tx
    .selectFrom('stream')
    .innerJoin('workspace', 'workspace.id', 'stream.workspace_id')
    .select(SETTINGS)
    .where('stream.id', '=', streamId)
    .where('stream.deleted_at', 'is', null)
    .forKeyShare('stream')
    .executeTakeFirst();
}

export function findByClient(
  tx: Tx,
  streamId: string,
  { authorId, clientId, since }: { authorId: string; clientId: string; since: Date },
): Promise<MessageRow | undefined> {
  return tx
    .selectFrom('chat_message')
    .selectAll()
    .where('stream_id', '=', streamId)
    .where('author_id', '=', authorId)
    .where('client_id', '=', clientId)
    .where('created_at', '>', since)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
}

export function findLastOf(tx: Tx, streamId: string, authorId: string) {
  return tx
    .selectFrom('chat_message')
    .select('created_at')
    .where('stream_id', '=', streamId)
    .where('author_id', '=', authorId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function findMessage(db: Db, streamId: string, id: string): Promise<MessageRow | undefined> {
  return db
    .selectFrom('chat_message')
    .selectAll()
    .where('id', '=', id)
    .where('stream_id', '=', streamId)
    .executeTakeFirst();
}

export async function insertMessage(tx: Tx, row: Insertable<ChatMessageTable>): Promise<void> {
  await tx.insertInto('chat_message').values(row).execute();
}

/**
 * Lists messages by their sequence number; `page.after` is one.
 * @param since excludes entries up to this position.
 */
export function listMessages(
  db: Db,
  streamId: string,
  page: PageRequest,
  since: { seq: number } | { at: Date } | null,
): Promise<MessageRow[]> {
  let query = db
    .selectFrom('chat_message')
    .selectAll()
    .where('stream_id', '=', streamId)
    .where(pageCondition({ ...page, after: null }))
    .where(seqsWithin(streamId, page))
    .orderBy('seq', page.order)
    .limit(page.fetchLimit);
  if (page.after !== null) query = query.where('seq', page.order === 'desc' ? '<' : '>', Number(page.after));
  if (since !== null) {
    query =
      'seq' in since
        ? query.where('seq', '>', since.seq)
        : query
            .where('created_at', '>', since.at)
            .where(seqsWithin(streamId, { createdAfter: since.at, createdBefore: null }));
  }
  return query.execute();
}

/** Messages of 0.2.0 and before got their time before they waited for their number. */
const SLACK = sql`interval '1 minute'`;

/**
 * Returns the range of numbers that messages of these times can have, with a margin. Rows outside are not
 * read.
 */
function seqsWithin(
  streamId: string,
  { createdAfter, createdBefore }: { createdAfter: Date | string | null; createdBefore: string | null },
): RawBuilder<SqlBool> {
  const parts: RawBuilder<unknown>[] = [sql`true`];
  if (createdAfter !== null) {
    parts.push(sql`seq > coalesce((select seq from chat_message where stream_id = ${streamId}
      and created_at <= ${createdAfter}::timestamptz - ${SLACK} order by created_at desc limit 1), -1)`);
  }
  if (createdBefore !== null) {
    parts.push(sql`seq < coalesce((select seq from chat_message where stream_id = ${streamId}
      and created_at >= ${createdBefore}::timestamptz + ${SLACK} order by created_at limit 1), 9223372036854775807)`);
  }
  return sql`${sql.join(parts, sql` and `)}`;
}

/** Deletes the text of a message. Returns undefined when the message is missing or already deleted. */
export function deleteMessage(
  tx: Tx,
  streamId: string,
  id: string,
  now: Date,
): Promise<{ seq: number } | undefined> {
  return tx
    .updateTable('chat_message')
    .set({ deleted_at: now, text: '' })
    .where('id', '=', id)
    .where('stream_id', '=', streamId)
    .where('deleted_at', 'is', null)
    .returning('seq')
    .executeTakeFirst();
}

export async function deleteBefore(tx: Tx, streamId: string, seq: number): Promise<void> {
  await tx.deleteFrom('chat_message').where('stream_id', '=', streamId).where('seq', '<', seq).execute();
}

// Queries of bans.

const inForce = (now: Date) => sql<SqlBool>`(expires_at is null or expires_at > ${now})`;

/**
 * @param isNew true when the previous ban of the author has expired and is replaced; otherwise only its end
 *   changes.
 */
export function upsertBan(tx: Tx, ban: Insertable<ChatBanTable>, isNew: boolean): Promise<BanRow> {
  const { id, created_at, expires_at = null } = ban;
  return tx
    .insertInto('chat_ban')
    .values(ban)
    .onConflict((conflict) =>
      conflict
        .columns(['stream_id', 'author_id'])
        .doUpdateSet(isNew ? { id, created_at, expires_at } : { expires_at }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function countBans(tx: Tx, streamId: string, now: Date): Promise<number> {
  const { count } = await tx
    .selectFrom('chat_ban')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('stream_id', '=', streamId)
    .where(inForce(now))
    .executeTakeFirstOrThrow();
  return count;
}

export function findBan(db: Db, streamId: string, authorId: string, now: Date): Promise<BanRow | undefined> {
  return db
    .selectFrom('chat_ban')
    .selectAll()
    .where('stream_id', '=', streamId)
    .where('author_id', '=', authorId)
    .where(inForce(now))
    .executeTakeFirst();
}

export function listBans(db: Db, streamId: string, page: PageRequest, now: Date): Promise<BanRow[]> {
  return db
    .selectFrom('chat_ban')
    .selectAll()
    .where('stream_id', '=', streamId)
    .where(inForce(now))
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** @returns whether a ban in force was deleted. */
export async function deleteBan(db: Db, streamId: string, id: string, now: Date): Promise<boolean> {
  const result = await db
    .deleteFrom('chat_ban')
    .where('id', '=', id)
    .where('stream_id', '=', streamId)
    .where(inForce(now))
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/**
 * Deletes messages beyond the retention or the maximum count, expired bans, and all rows of deleted streams.
 */
export async function pruneChat(
  db: Db,
  { before, now, newest }: { before: Date; now: Date; newest: number },
): Promise<void> {
  await sql`delete from chat_message where created_at < ${before}`.execute(db);
  await sql`
    delete from chat_message message using stream_log_head head
      where head.stream_id = message.stream_id and head.tail = 'CHAT'
        and message.seq <= head.seq - ${newest}`.execute(db);
  await sql`delete from chat_ban where expires_at <= ${now}`.execute(db);
  for (const table of ['chat_message', 'chat_ban'] as const) {
    await sql`
      delete from ${sql.table(table)} gone using stream
        where stream.id = gone.stream_id and stream.deleted_at is not null`.execute(db);
  }
}
