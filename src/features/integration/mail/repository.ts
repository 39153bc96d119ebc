import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { MailStatus, MailTable } from '../../../platform/db/tables.generated.ts';

export type MailRow = Selectable<MailTable>;

export async function insertMail(
  tx: Tx,
  mail: Pick<MailTable, 'id' | 'kind' | 'recipient' | 'subject' | 'created_at'> & {
    body: Uint8Array;
    calendar: Uint8Array | null;
    unsubscribe_url: Uint8Array | null;
  },
): Promise<void> {
  await tx
    .insertInto('mail')
    .values({ ...mail, next_at: mail.created_at, last_error: null, finished_at: null })
    .execute();
}

/** Claims due emails; other workers skip them until the lease expires. */
export async function claimMails(db: Db, now: Date, leaseUntil: Date, limit: number): Promise<MailRow[]> {
  const due = db
    .selectFrom('mail')
    .select('id')
    .where('status', '=', 'QUEUED')
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .limit(limit)
    .forUpdate()
    .skipLocked();
  return db
    .updateTable('mail')
    .set((eb) => ({ next_at: leaseUntil, attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', due)
    .returningAll()
    .execute();
}

/** Ends an email. A sent one loses its text, since its links are no longer needed. */
export async function finishMail(
  db: Db,
  id: string,
  status: Exclude<MailStatus, 'QUEUED'>,
  at: Date,
  error: string | null = null,
): Promise<void> {
  await db
    .updateTable('mail')
    .set({
      status,
      finished_at: at,
      last_error: error,
      ...(status === 'SENT' ? { body: null, calendar: null, unsubscribe_url: null } : {}),
    })
    .where('id', '=', id)
    .execute();
}

export async function retryMail(db: Db, id: string, nextAt: Date, error: string): Promise<void> {
  await db
    .updateTable('mail')
    .set({ next_at: nextAt, last_error: error })
    .where('id', '=', id)
    .where('status', '=', 'QUEUED')
    .execute();
}

export function listMails(db: Db, limit: number): Promise<MailRow[]> {
  return db.selectFrom('mail').selectAll().orderBy('id', 'desc').limit(limit).execute();
}

export function findMail(db: Db, id: string): Promise<MailRow | undefined> {
  return db.selectFrom('mail').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function deleteMailsBefore(db: Db, time: Date): Promise<void> {
  await db
    .deleteFrom('mail')
    .where('created_at', '<', time)
    .where(sql<boolean>`status <> 'QUEUED'`)
    .execute();
}
