import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';
import type { ProviderEventTable } from '../../../platform/db/tables.generated.ts';

export type ProviderEventRow = Selectable<ProviderEventTable>;

/** @returns whether the event is new. */
export async function insertProviderEvent(db: Db, row: Insertable<ProviderEventTable>): Promise<boolean> {
  const kept = await db
    .insertInto('provider_event')
    .values(row)
    .onConflict((conflict) => conflict.columns(['provider', 'id']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return kept !== undefined;
}

export async function updateProviderEvent(
  db: Db,
  { provider, id }: Pick<ProviderEventRow, 'provider' | 'id'>,
  change: Updateable<ProviderEventTable>,
): Promise<void> {
  await db
    .updateTable('provider_event')
    .set(change)
    .where('provider', '=', provider)
    .where('id', '=', id)
    .execute();
}

/** Lists unhandled events that are due, longest waiting first. */
export function listDueProviderEvents(db: Db, now: Date, limit: number): Promise<ProviderEventRow[]> {
  return db
    .selectFrom('provider_event')
    .selectAll()
    .where('handled_at', 'is', null)
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .limit(limit)
    .execute();
}

/** Returns the time up to which the provider's events are synced; null when they never were. */
export async function getSyncedUntil(db: Db, provider: ProviderEventRow['provider']): Promise<Date | null> {
  const row = await db
    .selectFrom('provider_poll_state')
    .select('synced_until')
    .where('provider', '=', provider)
    .executeTakeFirst();
  return row?.synced_until ?? null;
}

export async function setSyncedUntil(
  db: Db,
  provider: ProviderEventRow['provider'],
  at: Date,
): Promise<void> {
  await db
    .insertInto('provider_poll_state')
    .values({ provider, synced_until: at })
    .onConflict((conflict) => conflict.column('provider').doUpdateSet({ synced_until: at }))
    .execute();
}
