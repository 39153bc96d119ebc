import { type Insertable, sql } from 'kysely';
import type { WhepRejection } from '../../../media/contract/index.ts';
import { advisoryLock } from '../../../platform/db/advisory-lock.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { WhepSessionTable } from '../../../platform/db/tables.generated.ts';

/** Those who come from the same address wait for each other, and for nobody else. */
export async function lockAddress(tx: Tx, mark: string): Promise<void> {
  await advisoryLock(tx, `whep ${mark}`);
}

/** Who watches from an address, or is about to. */
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

/** Those of these streams that no node has, each given to one. */
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

/** What is left of an answered offer: the names of its side of ICE, with a space between them. */
const ICE_OF_OFFER = sql<string>`coalesce((
  select string_agg(found[1], ' ') from regexp_matches(offer, 'a=ice-ufrag:([^[:space:]]+)', 'g') as found
), '')`;

/** Of an open session (`ICE_OF_OFFER`). */
export async function findIce(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('whep_session')
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

/** @returns how many there were of those that go on. */
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
 * They may watch on.
 *
 * @param since their media node has said that it serves them.
 * @returns those that are still there.
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

/** Keeps what was sent to each, and that the node serves them. @returns the ids of those of the node that may watch on. */
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

/** What nobody has answered or used, and what outlived its node. */
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
