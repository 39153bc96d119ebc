import { type Insertable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { isLost } from '../../../platform/db/media-node.ts';
import type { WhipSessionTable } from '../../../platform/db/tables.generated.ts';

export async function insertSession(tx: Tx, row: Insertable<WhipSessionTable>): Promise<void> {
  await tx.insertInto('whip_session').values(row).execute();
}

export function findSession(db: Db, id: string) {
  return db.selectFrom('whip_session').select(['state', 'answer']).where('id', '=', id).executeTakeFirst();
}

/** Claims unclaimed offers for one node. */
export async function claimOffers(db: Db, nodeId: string, since: Date) {
  return db
    .updateTable('whip_session')
    .set({ node_id: nodeId })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('whip_session')
        .select('id')
        .where('state', '=', 'OFFERED')
        .where('node_id', 'is', null)
        .where('created_at', '>=', since)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'stream_id', 'offer'])
    .execute();
}

/** Rest of an answered offer: the ICE user fragments of its side, separated by spaces. */
const ICE_OF_OFFER = sql<string>`coalesce((
  select string_agg(found[1], ' ') from regexp_matches(offer, 'a=ice-ufrag:([^[:space:]]+)', 'g') as found
), '')`;

/** Finds the stored ICE user fragments of an open session (`ICE_OF_OFFER`). */
export async function findIce(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('whip_session')
    .select('offer')
    .where('id', '=', id)
    .where('state', '=', 'ANSWERED')
    .executeTakeFirst();
  return row?.offer;
}

/** Stores the answer. A session that its client has ended in between remains ended. */
export async function answer(
  db: Db,
  id: string,
  given: { state: 'ANSWERED' | 'REFUSED'; text: string },
): Promise<void> {
  const { state, text } = given;
  await db
    .updateTable('whip_session')
    .set({ state, answer: text, offer: ICE_OF_OFFER })
    .where('id', '=', id)
    .where('state', '=', 'OFFERED')
    .execute();
}

/** @returns whether the session existed. */
export async function endSession(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('whip_session')
    .set({ state: 'ENDING' })
    .where('id', '=', id)
    .where('state', 'in', ['OFFERED', 'ANSWERED'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends the current and pending publishes to a stream; their media nodes release them. */
export async function endSessionsOf(tx: Tx, streamId: string): Promise<void> {
  await tx
    .updateTable('whip_session')
    .set({ state: 'ENDING' })
    // Same lock order as the `heartbeat` of the previous release: two orders would deadlock.
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('whip_session')
        .select('id')
        .where('stream_id', '=', streamId)
        .where('state', 'in', ['OFFERED', 'ANSWERED'])
        .orderBy('id')
        .forUpdate(),
    )
    .execute();
}

/** Returns the IDs of the node's sessions that continue. */
export async function listNodeSessions(db: Db, nodeId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('whip_session')
    .select('id')
    .where('node_id', '=', nodeId)
    .where('state', '<>', sql.lit('ENDING'))
    .execute();
  return rows.map(({ id }) => id);
}

export async function deleteSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom('whip_session').where('id', '=', id).execute();
}

export async function deleteOfNode(db: Db, nodeId: string): Promise<void> {
  await db.deleteFrom('whip_session').where('node_id', '=', nodeId).execute();
}

/** Deletes unused offers, and sessions that outlived their node. */
export async function deleteEnded(db: Db, { unused, lost }: { unused: Date; lost: Date }): Promise<void> {
  await db
    .deleteFrom('whip_session')
    .where((eb) =>
      eb.or([
        eb.and([eb('state', '=', sql.lit('ANSWERED')), isLost('whip_session', lost)]),
        eb.and([
          eb('created_at', '<', unused),
          eb.or([eb('node_id', 'is', null), eb('state', '<>', sql.lit('ANSWERED'))]),
        ]),
      ]),
    )
    .execute();
}
