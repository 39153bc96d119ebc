import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';

/** @returns what was last said of its health; undefined when it has no signal. */
export function writeHealth(db: Db, streamId: string, health: string, now: Date) {
  return db
    .updateTable('stream')
    .set({ health: sql`${health}::jsonb`, last_signal_at: now })
    .where('id', '=', streamId)
    .where('has_signal', '=', true)
    .returning(['health_said_issues', 'health_said_at'])
    .executeTakeFirst();
}

/** The last word on a signal that goes, or that was not let in. */
export async function keepRefusal(tx: Tx, streamId: string, health: string): Promise<void> {
  await tx
    .updateTable('stream')
    .set({ health: sql`${health}::jsonb` })
    .where('id', '=', streamId)
    .execute();
}

/** Streams whose planned start lies ahead, until `horizon`, and was not announced yet. */
export async function upcomingStreams(db: Db, now: Date, horizon: Date): Promise<{ id: string }[]> {
  return db
    .selectFrom('stream')
    .select('id')
    .where('scheduled_start_at', '>', now)
    .where('scheduled_start_at', '<=', horizon)
    .where(sql<boolean>`schedule_said_for is distinct from scheduled_start_at`)
    .where('deleted_at', 'is', null)
    .limit(100)
    .execute();
}
