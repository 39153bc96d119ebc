import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { RejectionIssue } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { isLost } from '../../../platform/db/media-node.ts';
import { pageCondition } from '../../../platform/db/page.ts';
import type {
  IngestSessionTable,
  StreamSessionTable,
  StreamTable,
} from '../../../platform/db/tables.generated.ts';
import { isAccountActive } from '../../../platform/db/workspace.ts';

export type StreamRow = Selectable<StreamTable>;
export type SessionRow = Selectable<StreamSessionTable>;
export type IngestRow = Selectable<IngestSessionTable>;
export type NewStream = Insertable<StreamTable>;
export type StreamChange = Updateable<StreamTable>;

export function insertStream(tx: Tx, workspaceId: string, stream: Omit<NewStream, 'workspace_id'>) {
  return tx
    .insertInto('stream')
    .values({ ...stream, workspace_id: workspaceId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function lockStream(tx: Tx, workspaceId: string, id: string): Promise<StreamRow | undefined> {
  return tx
    .selectFrom('stream')
    .selectAll()
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

/**
 * Locks the row for the media plane and the sweep, which know only the ID. Deleted streams are included:
 * their signal still ends, and their receivers still get events.
 */
export function lockAnyStream(tx: Tx, id: string): Promise<StreamRow | undefined> {
  return tx.selectFrom('stream').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

export function updateStream(tx: Tx, id: string, change: StreamChange): Promise<StreamRow> {
  return tx.updateTable('stream').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/** Returns undefined when the stream does not exist. */
export async function workspaceOfStream(db: Db, streamId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('stream')
    .select('workspace_id')
    .where('id', '=', streamId)
    .executeTakeFirst();
  return row?.workspace_id;
}

export async function countLive(db: Db, workspaceId: string): Promise<number> {
  const row = await db
    .selectFrom('stream')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('is_live', '=', true)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Returns those of the hashes (base64) that are the key of a stream. */
export async function existingKeyHashes(db: Db, hashes: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ hash: string }>`
    with asked as (select text, decode(text, 'base64') as hash from unnest(${hashes}::text[]) text)
    select asked.text as hash from asked
    where exists (select from stream where stream.key_hash = asked.hash and stream.deleted_at is null)`.execute(
    db,
  );
  return rows.map(({ hash }) => hash);
}

export function findPublisher(db: Db, keyHash: Uint8Array) {
  return db
    .selectFrom('stream')
    .innerJoin('workspace', 'workspace.id', 'stream.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select([
      'stream.id',
      'stream.enabled',
      'stream.latency_mode',
      'account.plan',
      'account.suspended_at',
      'workspace.mode',
    ])
    .where('stream.key_hash', '=', keyHash)
    .where('stream.deleted_at', 'is', null)
    .executeTakeFirst();
}

// Queries of sessions, as listed by GET /streams/{id}/sessions.

export async function insertSession(tx: Tx, session: Insertable<StreamSessionTable>): Promise<void> {
  await tx.insertInto('stream_session').values(session).execute();
}

export function findSession(db: Db, id: string): Promise<SessionRow | undefined> {
  return db.selectFrom('stream_session').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function updateSession(
  tx: Tx,
  id: string,
  change: Updateable<StreamSessionTable>,
): Promise<void> {
  await tx.updateTable('stream_session').set(change).where('id', '=', id).execute();
}

/** Session with the video of its recording, unless the video was deleted. */
export type ListedSession = SessionRow & { recording_video_id: string | null };

/** Sets the reason why the session ended or is not recorded, unless it has one. */
export async function setSessionError(tx: Tx, id: string, error: RejectionIssue): Promise<void> {
  await tx
    .updateTable('stream_session')
    .set({ error })
    .where('id', '=', id)
    .where('error', 'is', null)
    .execute();
}

/** Stops the recording of the broadcast, because the storage is full. */
export async function stopRecording(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('stream_session')
    .set({ error: 'QUOTA_EXCEEDED' })
    .where('id', '=', id)
    .where('broadcast_ended_at', 'is', null)
    .execute();
}

export function listSessions(
  db: Db,
  workspaceId: string,
  streamId: string,
  page: PageRequest,
): Promise<ListedSession[]> {
  return db
    .selectFrom('stream_session')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('video')
        .select('video.id')
        .whereRef('video.session_id', '=', 'stream_session.id')
        .where('video.source', '=', 'RECORDING')
        .where('video.deleted_at', 'is', null)
        .orderBy('video.id')
        .limit(1)
        .as('recording_video_id'),
    )
    .where('stream_id', '=', streamId)
    .where('workspace_id', '=', workspaceId)
    .where(pageCondition(page, 'id', 'signal_started_at'))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

// Queries of ingest sessions, which are encoder connections.

/** @returns false when this connection was announced before. */
export async function insertIngest(tx: Tx, session: Insertable<IngestSessionTable>): Promise<boolean> {
  const result = await tx
    .insertInto('ingest_session')
    .values(session)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export function findIngest(db: Db, id: string): Promise<IngestRow | undefined> {
  return db.selectFrom('ingest_session').selectAll().where('id', '=', id).executeTakeFirst();
}

export function findOpenIngest(db: Db, streamId: string): Promise<IngestRow | undefined> {
  return db
    .selectFrom('ingest_session')
    .selectAll()
    .where('stream_id', '=', streamId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
}

export async function updateIngest(
  db: Db,
  id: string,
  change: Updateable<IngestSessionTable>,
): Promise<void> {
  await db
    .updateTable('ingest_session')
    .set(change)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute();
}

/**
 * Selects sessions whose reconnect window has ended, and those of nodes without a heartbeat since `deadline`.
 */
export function selectLostIngests(db: Db, now: Date, deadline: Date) {
  return db
    .selectFrom('ingest_session')
    .selectAll()
    .where('ended_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('grace_until', '<=', now),
        eb.and([eb('grace_until', 'is', null), isLost('ingest_session', deadline)]),
      ]),
    )
    .limit(100);
}

/** Disconnects all connections of a restarted node; each gets its reconnect window from now on. */
export async function disconnectNodeIngests(
  db: Db,
  nodeId: string,
  now: Date,
  graceUntil: Date,
): Promise<void> {
  await db
    .updateTable('ingest_session')
    .set({ lost_at: now, grace_until: graceUntil })
    .where('node_id', '=', nodeId)
    .where('ended_at', 'is', null)
    .where('lost_at', 'is', null)
    .execute();
}

/** Lists the open sessions of a node. `isMissing` marks one that the node did not have at its last heartbeat. */
export function listNodeIngests(db: Db, nodeId: string) {
  return db
    .selectFrom('ingest_session')
    .innerJoin('stream', 'stream.id', 'ingest_session.stream_id')
    .select((eb) => [
      'ingest_session.id',
      'ingest_session.disconnect_reason',
      eb('ingest_session.last_seen_at', 'is not', null).as('isMissing'),
      isAccountActive('stream.workspace_id').as('isAllowed'),
    ])
    .where('ingest_session.node_id', '=', nodeId)
    .where('ingest_session.ended_at', 'is', null)
    .execute();
}

/** @param lastSeenAt null to let the heartbeat of the node count. */
export async function setLastSeen(db: Db, ids: readonly string[], lastSeenAt: Date | null): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('ingest_session')
    .set({ last_seen_at: lastSeenAt })
    .where((eb) => eb('id', '=', eb.fn.any(eb.val(ids))))
    .where('ended_at', 'is', null)
    .execute();
}

/**
 * Selects streams with due work: a suppressed event, or a broadcast that is too long or too long without a
 * signal.
 */
export function selectDueStreams(db: Db, now: Date) {
  return db
    .selectFrom('stream')
    .select('id')
    .where((eb) =>
      eb.or([
        eb('broadcast_notify_at', '<=', now),
        eb.and([
          eb('is_live', '=', true),
          sql<boolean>`live_since + make_interval(secs => max_duration_sec) <= ${now}`,
        ]),
        eb.and([
          eb('is_live', '=', true),
          eb('has_signal', '=', false),
          sql<boolean>`greatest(signal_lost_at, live_since)
            + make_interval(secs => auto_stop_after_sec) <= ${now}`,
        ]),
      ]),
    )
    .limit(100);
}

/** Finds the data on which playback decides, in any workspace, because viewers have none. */
export function findSnapshot(db: Db, id: string) {
  return db
    .selectFrom('stream')
    .innerJoin('workspace', 'workspace.id', 'stream.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .leftJoin('ingest_session', (join) =>
      join.onRef('ingest_session.stream_id', '=', 'stream.id').on('ingest_session.ended_at', 'is', null),
    )
    .leftJoin('stream_session', 'stream_session.id', 'stream.current_session_id')
    .leftJoin('channel', 'channel.workspace_id', 'stream.workspace_id')
    .select((eb) => eb.fn.coalesce('channel.display_name', 'account.name').as('name'))
    .select([
      'stream.id',
      'stream.workspace_id',
      'stream.title',
      'stream.description',
      'stream.visibility',
      'stream.tier_ids',
      'workspace.mode',
      'stream.is_live',
      'stream.has_signal',
      'stream.dvr_window_sec',
      'stream.health',
      'stream.live_since',
      'stream.current_session_id',
      'stream.scheduled_start_at',
      'stream.viewer_count',
      'account.id as account_id',
      'account.username',
      'account.embed_mode',
      'account.embed_domains',
      'ingest_session.video',
      'stream_session.broadcast_started_at',
      'stream_session.broadcast_ended_at',
    ])
    .where('stream.id', '=', id)
    .where('stream.deleted_at', 'is', null)
    .where('stream.taken_down_at', 'is', null)
    .where('account.suspended_at', 'is', null)
    .executeTakeFirst();
}
