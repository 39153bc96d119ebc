import { type Insertable, sql } from 'kysely';
import type { WhepRejection } from '../../../media/contract/index.ts';
import { advisoryLock } from '../../../platform/db/advisory-lock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { WhepSessionTable } from '../../../platform/db/tables.generated.ts';

/** Serializes the viewers of one IP address, and no others. */
export async function lockAddress(tx: Tx, mark: string): Promise<void> {
  await advisoryLock(tx, `whep ${mark}`);
}

/** Counts the current and pending viewers of an IP address. */
export async function countOfAddress(tx: Tx, mark: string, now: Date): Promise<number> {
  const { count } = await tx
    .selectFrom('whep_session')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('ip_hash', '=', mark)
    .where('state', 'in', ['OFFERED', 'ANSWERED'])
    .where('admitted_until', '>', now)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertSession(db: Db, row: Insertable<WhepSessionTable>): Promise<void> {
  await db.insertInto('whep_session').values(row).execute();
}

export function findSession(db: Db, id: string) {
  return db
    .selectFrom('whep_session')
    .select(['state', 'answer', 'refusal'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Claims the unclaimed offers of these streams for one node. */
export async function claimOffers(db: Db, nodeId: string, streamIds: readonly string[], since: Date) {
  return db
    .updateTable('whep_session')
    .set({ node_id: nodeId })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('whep_session')
        .select('id')
        .where('state', '=', 'OFFERED')
        .where('node_id', 'is', null)
        .where('created_at', '>=', since)
        .where((own) => own('stream_id', '=', own.fn.any(own.val(streamIds))))
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
    .selectFrom('whep_session')
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
  given: { state: 'ANSWERED' | 'REFUSED'; text: string; refusal?: WhepRejection; now: Date },
): Promise<void> {
  const { state, text, refusal = null, now } = given;
  await db
    .updateTable('whep_session')
    .set({ state, answer: text, refusal, offer: ICE_OF_OFFER, heartbeat_at: now })
    .where('id', '=', id)
    .where('state', '=', 'OFFERED')
    .execute();
}

/** @returns the number of sessions that were still open. */
export async function endSessions(db: Db, ids: readonly string[]): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('whep_session')
    .set({ state: 'ENDING' })
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where('state', 'in', ['OFFERED', 'ANSWERED'])
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/**
 * Extends the admission of sessions.
 *
 * @param since the time after which their media node must have reported that it serves them.
 * @returns the sessions that still exist.
 */
export function extendAdmission(
  db: Db,
  ids: readonly string[],
  { until, since }: { until: Date; since: Date },
) {
  return db
    .updateTable('whep_session')
    .set({ admitted_until: until })
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where('state', '=', 'ANSWERED')
    .where((eb) => eb.or([eb('heartbeat_at', 'is', null), eb('heartbeat_at', '>', since)]))
    .returning(['id', 'sent_bytes'])
    .execute();
}

/**
 * Stores the bytes sent to each session and that the node serves it.
 * @returns the IDs of the node's sessions that may continue.
 */
export async function heartbeat(
  db: Db,
  nodeId: string,
  sent: ReadonlyMap<string, number>,
  now: Date,
): Promise<string[]> {
  const given = JSON.stringify([...sent].map(([id, bytes]) => ({ id, bytes })));
  const { rows } = await sql<{ id: string }>`
    update whep_session set sent_bytes = greatest(sent_bytes, given.bytes), heartbeat_at = ${now}
      from jsonb_to_recordset(${given}::text::jsonb) as given (id text, bytes bigint)
      where whep_session.id = given.id and node_id = ${nodeId}
        and state <> 'ENDING' and admitted_until > ${now}
      returning whep_session.id`.execute(db);
  return rows.map(({ id }) => id);
}

export async function deleteSession(db: Db, id: string): Promise<void> {
  await db.deleteFrom('whep_session').where('id', '=', id).execute();
}

export async function deleteOfNode(db: Db, nodeId: string): Promise<void> {
  await db.deleteFrom('whep_session').where('node_id', '=', nodeId).execute();
}

/** Deletes sessions that were never answered or used, and those that outlived their node. */
export async function deleteEnded(db: Db, { unused, over }: { unused: Date; over: Date }): Promise<void> {
  await db
    .deleteFrom('whep_session')
    .where((eb) =>
      eb.or([
        eb('admitted_until', '<', over),
        eb.and([
          eb('created_at', '<', unused),
          eb.or([eb('node_id', 'is', null), eb('state', '=', 'REFUSED')]),
        ]),
      ]),
    )
    .execute();
}
