import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import type { VideoReplacementTable } from '../../../../platform/db/tables.generated.ts';

export type ReplacementRow = Selectable<VideoReplacementTable>;
export type ReplacementChange = Updateable<VideoReplacementTable>;

/** The upload session, or the import, that brings a file. */
export interface ReplacementSource {
  uploadId?: string;
  importId?: string;
}

/** The only one that may be under way. */
const OPEN = sql<boolean>`status in ('UPLOADING', 'QUEUED', 'PROCESSING')`;

/** Maximum number of rows per batch. */
const BATCH = 100;

/** Inserts a replacement with a new revision; rows of earlier ones that have no files left are deleted. */
export async function insertReplacement(
  tx: Tx,
  { revision, ...replacement }: Omit<Insertable<VideoReplacementTable>, 'status'>,
): Promise<ReplacementRow> {
  const { video_id: videoId } = replacement;
  const { last } = await tx
    .selectFrom('video_replacement')
    .select(sql<number>`greatest(coalesce(max(revision), 0), ${revision}::int)`.as('last'))
    .where('video_id', '=', videoId)
    .executeTakeFirstOrThrow();
  await tx
    .deleteFrom('video_replacement')
    .where('video_id', '=', videoId)
    .where('previous_kept_until', 'is', null)
    .where('original_key', 'is', null)
    .execute();
  return tx
    .insertInto('video_replacement')
    .values({ ...replacement, revision: last + 1, status: 'UPLOADING' })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The last one of a video, however it ended. */
export function lastReplacement(db: Db, videoId: string): Promise<ReplacementRow | undefined> {
  return db
    .selectFrom('video_replacement')
    .selectAll()
    .where('video_id', '=', videoId)
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function openReplacement(db: Db, videoId: string): Promise<ReplacementRow | undefined> {
  return db
    .selectFrom('video_replacement')
    .selectAll()
    .where('video_id', '=', videoId)
    .where(OPEN)
    .executeTakeFirst();
}

export function findReplacement(
  db: Db,
  videoId: string,
  revision: number,
): Promise<ReplacementRow | undefined> {
  return db
    .selectFrom('video_replacement')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .executeTakeFirst();
}

/** The one whose file this brings. */
export function replacementFrom(
  db: Db,
  videoId: string,
  { uploadId, importId }: ReplacementSource,
): Promise<ReplacementRow | undefined> {
  let query = db.selectFrom('video_replacement').selectAll().where('video_id', '=', videoId);
  if (uploadId !== undefined) query = query.where('upload_id', '=', uploadId);
  if (importId !== undefined) query = query.where('import_id', '=', importId);
  return query.orderBy('revision', 'desc').limit(1).executeTakeFirst();
}

/** Returns the source of a replacement's file. */
export function sourceOf({
  upload_id: uploadId,
  import_id: importId,
}: Pick<ReplacementRow, 'upload_id' | 'import_id'>): ReplacementSource {
  return { ...(uploadId !== null && { uploadId }), ...(importId !== null && { importId }) };
}

export function updateReplacement(
  tx: Db,
  { video_id, revision }: Pick<ReplacementRow, 'video_id' | 'revision'>,
  change: ReplacementChange,
): Promise<ReplacementRow> {
  return tx
    .updateTable('video_replacement')
    .set(change)
    .where('video_id', '=', video_id)
    .where('revision', '=', revision)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Lists failed and canceled replacements whose files may still exist. */
export function listDiscardedReplacements(db: Db, videoId: string): Promise<ReplacementRow[]> {
  return db
    .selectFrom('video_replacement')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('status', 'in', ['FAILED', 'CANCELED'])
    .where(
      sql<boolean>`(original_key is not null or captions <> '[]' or exists (select from video_processing made
        where made.video_id = video_replacement.video_id and made.revision = video_replacement.revision))`,
    )
    .execute();
}

/** Lists replacements whose processing has been inactive since `before`. */
export function findQuiet(db: Db, before: Date): Promise<{ id: string; revision: number }[]> {
  return (
    db
      .selectFrom('video_replacement as r')
      .leftJoin('video_processing as p', (join) =>
        join.onRef('p.video_id', '=', 'r.video_id').onRef('p.revision', '=', 'r.revision'),
      )
      .select(['r.video_id as id', 'r.revision'])
      // Literals: they are what the index is limited to.
      .where('r.status', 'in', [sql.lit('QUEUED' as const), sql.lit('PROCESSING' as const)])
      .where((where) => where.fn.coalesce('p.last_activity_at', 'r.updated_at'), '<', before)
      .limit(BATCH)
      .execute()
  );
}

/**
 * Lists previous files, earliest expiry first: those retained until at most `until`, or those of one
 * workspace.
 */
export function listPreviousFiles(db: Db, { until, workspaceId }: { until?: Date; workspaceId?: string }) {
  let query = db
    .selectFrom('video_replacement as r')
    .innerJoin('video', 'video.id', 'r.video_id')
    .selectAll('r')
    .select('video.workspace_id')
    .where('r.previous_kept_until', 'is not', null)
    .where('video.deleted_at', 'is', null);
  if (until !== undefined) query = query.where('r.previous_kept_until', '<=', until);
  if (workspaceId !== undefined) query = query.where('video.workspace_id', '=', workspaceId);
  return query.orderBy('r.previous_kept_until').limit(BATCH).execute();
}

/** Returns the storage used by the previous files of a workspace. */
export async function previousFileBytes(db: Db, workspaceId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('video_replacement as r')
    .innerJoin('video', 'video.id', 'r.video_id')
    .select(sql<number>`coalesce(sum(r.previous_storage_bytes), 0)::float8`.as('bytes'))
    .where('video.workspace_id', '=', workspaceId)
    .where('r.previous_kept_until', 'is not', null)
    .where('video.deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return bytes;
}

export type PreviousFile = Awaited<ReturnType<typeof listPreviousFiles>>[number];

/** Deletes the rows of a revision that will not play anymore, or never did. */
export async function deleteRevision(tx: Tx, videoId: string, revision: number): Promise<void> {
  for (const table of ['video_rendition', 'video_chunk', 'video_processing'] as const) {
    await tx.deleteFrom(table).where('video_id', '=', videoId).where('revision', '=', revision).execute();
  }
}

export function foldersOf(db: Db, videoId: string, revision: number): Promise<{ number: number }[]> {
  return db
    .selectFrom('video_folder')
    .select('number')
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .execute();
}

/** Finds the original of a previous revision while it is retained. */
export async function findPreviousOriginal(
  db: Db,
  videoId: string,
  revision: number,
): Promise<string | null> {
  const row = await db
    .selectFrom('video_replacement')
    .select('previous_original_key')
    .where('video_id', '=', videoId)
    .where('previous_revision', '=', revision)
    .executeTakeFirst();
  return row?.previous_original_key ?? null;
}

/** Returns the storage used by the replacements and previous files of a video. */
export async function replacementBytes(tx: Tx, videoId: string): Promise<number> {
  const { bytes } = await tx
    .selectFrom('video_replacement')
    .select(sql<number>`coalesce(sum(storage_bytes + previous_storage_bytes), 0)::float8`.as('bytes'))
    .where('video_id', '=', videoId)
    .executeTakeFirstOrThrow();
  return bytes;
}

/** The video is deleted: whatever they have goes with its files. */
export async function endReplacements(tx: Tx, videoId: string, now: Date): Promise<void> {
  await tx
    .updateTable('video_replacement')
    .set({ storage_bytes: 0, previous_storage_bytes: 0, updated_at: now })
    .where('video_id', '=', videoId)
    .execute();
  await tx
    .updateTable('video_replacement')
    .set({ status: 'CANCELED', ended_at: now })
    .where('video_id', '=', videoId)
    .where(OPEN)
    .execute();
}

/** Originals of a deleted video that it has replaced: a recording's may lie elsewhere. */
export async function listPreviousOriginals(db: Db, videoId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('video_replacement')
    .select('previous_original_key')
    .where('video_id', '=', videoId)
    .where('previous_original_key', 'is not', null)
    .execute();
  return rows.flatMap(({ previous_original_key: key }) => (key === null ? [] : [key]));
}
