import type { Db } from '../../../platform/db/index.ts';

export async function upsertNode(
  db: Db,
  node: { id: string; url: string; last_seen_at: Date },
): Promise<void> {
  const { url, last_seen_at } = node;
  await db
    .insertInto('media_node')
    .values(node)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ url, last_seen_at }))
    .execute();
}

export async function heartbeatNode(db: Db, id: string, now: Date): Promise<void> {
  await db
    .insertInto('media_node')
    .values({ id, last_seen_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_seen_at: now }))
    .execute();
}

/** Reports whether a node other than this one has sent a heartbeat since a moment. */
export async function hasOtherNode(db: Db, nodeId: string, since: Date): Promise<boolean> {
  const row = await db
    .selectFrom('media_node')
    .select('id')
    .where('id', '<>', nodeId)
    .where('last_seen_at', '>=', since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Finds the node of the open or last encoder connection. */
export function findNode(db: Db, streamId: string) {
  return places(db, streamId).executeTakeFirst();
}

/** Finds the node of an encoder connection on another node that is open or ended after `since`. */
export function findOtherNode(db: Db, streamId: string, { nodeId, since }: { nodeId: string; since: Date }) {
  return places(db, streamId)
    .where('ingest_session.node_id', '<>', nodeId)
    .where((eb) =>
      eb.or([eb('ingest_session.ended_at', 'is', null), eb('ingest_session.ended_at', '>', since)]),
    )
    .executeTakeFirst();
}

/** Descending order puts null first: open connections precede ended ones. */
function places(db: Db, streamId: string) {
  return db
    .selectFrom('ingest_session')
    .leftJoin('media_node', 'media_node.id', 'ingest_session.node_id')
    .select(['ingest_session.node_id as nodeId', 'media_node.url'])
    .where('ingest_session.stream_id', '=', streamId)
    .orderBy('ingest_session.ended_at', 'desc')
    .limit(1);
}

export async function deleteNodes(db: Db, seenBefore: Date): Promise<void> {
  await db.deleteFrom('media_node').where('last_seen_at', '<', seenBefore).execute();
}
