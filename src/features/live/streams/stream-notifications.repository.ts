import { sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';

/** @returns the row, its previous health, and the last emitted health; undefined when it has no signal. */
export function writeHealth(tx: Tx, streamId: string, health: string, now: Date) {
  return tx
    .updateTable('stream')
    .from((eb) =>
      eb
        .selectFrom('stream')
        .select(['id as locked_id', 'health as health_before'])
        .where('id', '=', streamId)
        .where('has_signal', '=', true)
        .forNoKeyUpdate()
        .as('before'),
    )
    .set({ health: sql`${health}::jsonb`, last_signal_at: now })
    .whereRef('stream.id', '=', 'before.locked_id')
    .returning([
      'stream.id',
      'stream.has_signal',
      'stream.is_live',
      'stream.enabled',
      'stream.started_at',
      'stream.ended_at',
      'stream.health',
      'stream.notified_health_issues',
      'stream.health_notified_at',
      'stream.health_notify_at',
      'before.health_before',
    ])
    .executeTakeFirst();
}

/** Writes health that was not measured: the final state of a signal that ends or was rejected. */
export async function setFinalHealth(tx: Db, streamId: string, health: string): Promise<void> {
  await tx
    .updateTable('stream')
    .set({ health: sql`${health}::jsonb` })
    .where('id', '=', streamId)
    .execute();
}

/** Selects streams whose planned start lies ahead, until `horizon`, and was not announced yet. */
export function selectUpcoming(db: Db, now: Date, horizon: Date) {
  return db
    .selectFrom('stream')
    .select('id')
    .where('scheduled_start_at', '>', now)
    .where('scheduled_start_at', '<=', horizon)
    .where(sql<boolean>`schedule_notified_for is distinct from scheduled_start_at`)
    .where('deleted_at', 'is', null)
    .limit(100);
}
