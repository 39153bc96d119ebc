import { type Insertable, sql } from 'kysely';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { WhipSessionTable } from '../../../platform/db/tables.generated.ts';

export async function insertSession(tx: Tx, row: Insertable<WhipSessionTable>): Promise<void> {
  await tx.insertInto('whip_session').values(row).execute();
}

export function findSession(db: Db, id: string) {
  return db.selectFrom('whip_session').select(['state', 'answer']).where('id', '=', id).executeTakeFirst();
}

/** Those that no node has, each given to one. */
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

/** What is left of an answered offer: the names of its side of ICE, with a space between them. */
const ICE_OF_OFFER = sql<string>`coalesce((
  select string_agg(found[1], ' ') from regexp_matches(offer, 'a=ice-ufrag:([^[:space:]]+)', 'g') as found
), '')`;

/** Of an open session (`ICE_OF_OFFER`). */
export async function findIce(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('whip_session')
    .select('offer')
    .where('id', '=', id)
    .where('state', '=', 'ANSWERED')
    .executeTakeFirst();
  return row?.offer;
}

/** One that its client has ended meanwhile stays so. */
export async function answer(
  db: Db,
  id: string,
  given: { state: 'ANSWERED' | 'REFUSED'; text: string; now: Date },
): Promise<void> {
  const { state, text, now } = given;
  await db
    .updateTable('whip_session')
    .set({ state, answer: text, offer: ICE_OF_OFFER, heartbeat_at: now })
    .where('id', '=', id)
    .where('state', '=', 'OFFERED')
    .execute();
}

/** @returns whether there was such a session. */
export async function endSession(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('whip_session')
    .set({ state: 'ENDING' })
    .where('id', '=', id)
    .where('state', 'in', ['OFFERED', 'ANSWERED'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Those that publish to a stream, or are about to: their media nodes let go of them. */
export async function endSessionsOf(tx: Tx, streamId: string): Promise<void> {
  await tx
    .updateTable('whip_session')
    .set({ state: 'ENDING' })
    // In the order of `carry`: two orders would deadlock.
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

/** Keeps that the node carries them. @returns the ids of those that go on. */
export async function heartbeat(db: Db, nodeId: string, now: Date): Promise<string[]> {
  const rows = await db
    .updateTable('whip_session')
    .set({ heartbeat_at: now })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('whip_session')
        .select('id')
        .where('node_id', '=', nodeId)
        .where('state', '<>', sql.lit('ENDING'))
        .orderBy('id')
        .forUpdate(),
    )
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

export async function deleteSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom('whip_session').where('id', '=', id).execute();
}

export async function deleteOfNode(db: Db, nodeId: string): Promise<void> {
  await db.deleteFrom('whip_session').where('node_id', '=', nodeId).execute();
}

/** What was offered to nobody's use, and what outlived its node. */
export async function deleteEnded(db: Db, { unused, lost }: { unused: Date; lost: Date }): Promise<void> {
  await db
    .deleteFrom('whip_session')
    .where((eb) =>
      eb.or([
        eb('heartbeat_at', '<', lost),
        eb.and([
          eb('created_at', '<', unused),
          eb.or([eb('node_id', 'is', null), eb('state', '<>', sql.lit('ANSWERED'))]),
        ]),
      ]),
    )
    .execute();
}
