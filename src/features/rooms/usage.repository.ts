import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/db/index.ts';

/** Somebody was in a room from then to then; each day gets its part. */
export async function addUsage(tx: Tx, workspaceId: string, from: Date, to: Date): Promise<void> {
  await sql`
    insert into room_usage (workspace_id, day, seconds)
    select ${workspaceId}, day,
      extract(epoch from least(${to}, day + interval '24 hours') - greatest(${from}, day))::bigint
    from generate_series(date_trunc('day', ${from}::timestamptz, 'UTC'), ${to}::timestamptz, '24 hours') day
    on conflict (workspace_id, day) do update set seconds = room_usage.seconds + excluded.seconds
  `.execute(tx);
}

/** What people have spent in the rooms of a workspace since then, with those who are there now. */
export async function secondsSince(db: Db, workspaceId: string, since: Date, now: Date): Promise<number> {
  const gone = await db
    .selectFrom('room_usage')
    .select((eb) => eb.fn.sum<string | null>('seconds').as('seconds'))
    .where('workspace_id', '=', workspaceId)
    .where('day', '>=', since)
    .executeTakeFirst();
  const present = await db
    .selectFrom('room_participant')
    .innerJoin('room', 'room.id', 'room_participant.room_id')
    .select(
      sql<string | null>`sum(extract(epoch from ${now} - greatest(${since}, room_participant.joined_at)))`.as(
        'seconds',
      ),
    )
    .where('room.workspace_id', '=', workspaceId)
    .where('room_participant.state', '=', 'ACTIVE')
    .where('room_participant.bridge_id', 'is', null)
    .executeTakeFirst();
  return Number(gone?.seconds ?? 0) + Number(present?.seconds ?? 0);
}
