import { type Selectable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { FollowTable } from '../../../platform/db/tables.generated.ts';

export type FollowRow = Selectable<FollowTable>;

/** @returns undefined when the account follows the channel already. */
export function insertFollow(tx: Tx, row: FollowRow): Promise<FollowRow | undefined> {
  return tx
    .insertInto('follow')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'follower_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findFollow(db: Db, workspaceId: string, followerId: string): Promise<FollowRow | undefined> {
  return db
    .selectFrom('follow')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('follower_id', '=', followerId)
    .executeTakeFirst();
}

/** @returns the deleted row; undefined when there was none. */
export function deleteFollow(
  tx: Tx,
  workspaceId: string,
  followerId: string,
): Promise<FollowRow | undefined> {
  return tx
    .deleteFrom('follow')
    .where('workspace_id', '=', workspaceId)
    .where('follower_id', '=', followerId)
    .returningAll()
    .executeTakeFirst();
}

/** Lists the workspaces of the channels that an account follows. */
export async function followedBy(db: Db, followerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('follow')
    .select('workspace_id')
    .where('follower_id', '=', followerId)
    .execute();
  return rows.map((row) => row.workspace_id);
}

/** Increments the follower count. @returns the sequence number of the event. */
export async function incrementFollowers(tx: Tx, workspaceId: string): Promise<number> {
  const { event_sequence: sequence } = await tx
    .insertInto('follower_count')
    .values({ workspace_id: workspaceId, followers: 1, event_sequence: 1 })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({
        followers: sql`follower_count.followers + 1`,
        event_sequence: sql`follower_count.event_sequence + 1`,
      }),
    )
    .returning('event_sequence')
    .executeTakeFirstOrThrow();
  return sequence;
}

/** Decrements the follower count. @returns the sequence number of the event. */
export async function decrementFollowers(tx: Tx, workspaceId: string): Promise<number> {
  const { event_sequence: sequence } = await tx
    .updateTable('follower_count')
    .set({ followers: sql`followers - 1`, event_sequence: sql`event_sequence + 1` })
    .where('workspace_id', '=', workspaceId)
    .returning('event_sequence')
    .executeTakeFirstOrThrow();
  return sequence;
}

export async function countFollowers(db: Db, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('follower_count')
    .select('followers')
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return row?.followers ?? 0;
}
