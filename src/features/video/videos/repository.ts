import {
  type InferResult,
  type Insertable,
  type RawBuilder,
  type Selectable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely';
import { jsonArrayFrom, jsonObjectFrom } from 'kysely/helpers/postgres';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Plan } from '../../../kernel/plans.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN, isUnfiltered } from '../../../platform/db/page.ts';
import type { IdCondition } from '../../../platform/db/read-by-ids.ts';
import type { VideoRenditionTable, VideoTable } from '../../../platform/db/tables.generated.ts';
import { videoFields } from './fields.ts';
import { pageOfVideos, type VideoFilter } from './lists.repository.ts';

export type VideoRow = Selectable<VideoTable>;
export type RenditionRow = Selectable<VideoRenditionTable>;
export type NewVideo = Insertable<VideoTable>;
export type VideoChange = Updateable<VideoTable>;

export function insertVideo(tx: Tx, video: NewVideo): Promise<VideoRow> {
  return tx.insertInto('video').values(video).returningAll().executeTakeFirstOrThrow();
}

export function lockVideo(tx: Tx, workspaceId: string, id: string): Promise<VideoRow | undefined> {
  return tx
    .selectFrom('video')
    .selectAll()
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

/** Reports whether the workspace has such a video that is not deleted. */
export async function hasVideo(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('video')
    .select('id')
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** The row under a lock, for jobs and sweeps, which know only the id. A deleted video is there too. */
export function lockAnyVideo(tx: Tx, id: string): Promise<VideoRow | undefined> {
  return tx.selectFrom('video').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

export function updateVideo(tx: Tx, id: string, change: VideoChange): Promise<VideoRow> {
  return tx.updateTable('video').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/** The playable rungs of a revision, highest first; the shared audio is none. */
export function playableRungs(db: Db, videoId: string, revision: number): Promise<RenditionRow[]> {
  return db
    .selectFrom('video_rendition')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('kind', '=', 'VIDEO')
    .where('status', '=', 'READY')
    .orderBy('height', 'desc')
    .orderBy('width', 'desc')
    .execute();
}

/**
 * Columns shown to partners. Lists read no others, because the driver's work grows with rows times columns.
 */
const VIDEO_COLUMNS = [
  ...videoFields.columns,
  'video.id',
  'video.workspace_id',
  'video.status',
  'video.duration_sec',
  'video.width',
  'video.height',
  'video.frame_rate',
  'video.size_bytes',
  'video.progress_percent',
  'video.error_code',
  'video.error_message',
  'video.source',
  'video.upload_id',
  'video.import_id',
  'video.revision',
  'video.stream_id',
  'video.image_folder',
  'video.has_preview',
  'video.has_storyboard',
  'video.thumbnail_file',
  'video.chapters',
  'video.processing_notes',
  'video.view_count',
  'video.published_at',
  'video.publish_at',
  'video.taken_down_at',
  'video.takedown_reason',
  'video.created_at',
  'video.updated_at',
] as const;

function selectDetails(db: Db) {
  return db
    .selectFrom('video')
    .select(VIDEO_COLUMNS)
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('video_rendition as r')
          .select([
            'r.name',
            'r.kind',
            'r.codec',
            'r.width',
            'r.height',
            'r.average_bitrate',
            'r.frame_rate',
            'r.status',
            'r.progress_percent',
            'r.track',
            'r.language',
            'r.label',
            'r.channels',
            'r.is_description',
          ])
          .whereRef('r.video_id', '=', 'video.id')
          .whereRef('r.revision', '=', 'video.revision')
          .orderBy('r.height', 'desc')
          .orderBy('r.width', 'desc'),
      ).as('renditions'),
      jsonArrayFrom(
        eb
          .selectFrom('video_caption as c')
          .select(['c.language', 'c.label', 'c.file', 'c.is_auto', 'c.is_default'])
          .whereRef('c.video_id', '=', 'video.id')
          .orderBy('c.position')
          .orderBy('c.language'),
      ).as('captions'),
      jsonObjectFrom(
        eb
          .selectFrom('video_replacement as p')
          .select(['p.status', 'p.upload_id', 'p.import_id', 'p.progress_percent'])
          .select(['p.error_code', 'p.error_message'])
          .whereRef('p.video_id', '=', 'video.id')
          .orderBy('p.revision', 'desc')
          .limit(1),
      ).as('replacement'),
    ]);
}

/** Selects rows of any workspace; the caller compares the workspace. */
export function selectVideos(db: Db, among: IdCondition) {
  return selectDetails(db).where(areThese(among));
}

function areThese(among: IdCondition): RawBuilder<SqlBool> {
  return sql`${among('video.id')} and video.deleted_at is null`;
}

/** A video with its renditions, video highest first, whether they can be played yet or not, and its captions. */
export type VideoDetails = InferResult<ReturnType<typeof selectVideos>>[number];

/** The row as partners are shown it, inside the transaction that has changed it. */
export async function getVideoDetails(tx: Tx, id: string): Promise<VideoDetails> {
  return selectDetails(tx).where('video.id', '=', id).executeTakeFirstOrThrow();
}

export function listVideos(
  db: Db,
  workspaceId: string,
  filter: VideoFilter,
  page: PageRequest,
): Promise<VideoDetails[]> {
  return selectDetails(db)
    .where(sql<boolean>`video.id = any(array(${pageOfVideos(workspaceId, filter, page)}))`)
    .$if(!isUnfiltered(page, Object.values(filter)), (one) => one.modifyFront(CUSTOM_PLAN))
    .orderBy('video.id', page.order)
    .execute();
}

/** Counts the public videos; an index contains exactly these. */
export async function countPublicVideos(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('video')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'READY')
    .where('visibility', '=', 'PUBLIC')
    .where('deleted_at', 'is', null)
    .where('taken_down_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts the videos of one kind of source that wait for their files. */
export async function countWaiting(db: Db, workspaceId: string, source: VideoRow['source']): Promise<number> {
  const { count } = await db
    .selectFrom('video')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'UPLOADING')
    .where('source', '=', source)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Finds the location of a video's original. */
export function findOriginal(db: Db, workspaceId: string, id: string) {
  return db
    .selectFrom('video')
    .select('original_key')
    .where('id', '=', id)
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Finds the properties of recordings that clips of broadcasts need, including deleted recordings. */
export async function findRecorded(db: Db, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return db
    .selectFrom('video')
    .select(['id', 'duration_sec', 'size_bytes', 'deleted_at', 'taken_down_at'])
    .where('id', 'in', ids)
    .execute();
}

/** Maximum number of videos that a periodic task handles at a time. */
export const BATCH = 1000;

export function dueToPublish(db: Db, now: Date): Promise<{ id: string }[]> {
  return db
    .selectFrom('video')
    .select('id')
    .where('publish_at', '<=', now)
    .where('deleted_at', 'is', null)
    .orderBy('publish_at')
    .limit(BATCH)
    .execute();
}

export type AgingRecording = Pick<
  VideoRow,
  'id' | 'workspace_id' | 'created_at' | 'retention_notified_at' | 'retention_notified_for'
>;

/** Recordings of accounts with this plan that were made until then, by the order of their ids after this one. */
export function agingRecordings(db: Db, plan: Plan, until: Date, after: string): Promise<AgingRecording[]> {
  return db
    .selectFrom('video')
    .innerJoin('workspace', 'workspace.id', 'video.workspace_id')
    .innerJoin('account', 'account.id', 'workspace.account_id')
    .select([
      'video.id',
      'video.workspace_id',
      'video.created_at',
      'video.retention_notified_at',
      'video.retention_notified_for',
    ])
    .where('video.source', '=', 'RECORDING')
    .where('video.created_at', '<=', until)
    .where('video.deleted_at', 'is', null)
    .where('account.plan', '=', plan)
    .where('video.id', '>', after)
    .orderBy('video.id')
    .limit(BATCH)
    .execute();
}

/** Videos that were deleted before `before` and whose files may still be there. */
export function unpurged(db: Db, before: Date) {
  return db
    .selectFrom('video')
    .select(['id', 'workspace_id', 'original_key'])
    .where('deleted_at', '<', before)
    .where('purged_at', 'is', null)
    .orderBy('deleted_at')
    .limit(BATCH)
    .execute();
}

/** Marks the files as removed and deletes the rows that described them; the row of the video stays. */
export async function markPurged(db: Db, id: string, now: Date): Promise<void> {
  await db.deleteFrom('video_rendition').where('video_id', '=', id).execute();
  await db.deleteFrom('video_caption').where('video_id', '=', id).execute();
  await db.deleteFrom('video_replacement').where('video_id', '=', id).execute();
  await db
    .updateTable('video')
    .set({
      title: '',
      description: null,
      metadata: {},
      tags: [],
      chapters: '[]',
      processing_notes: '[]',
      purged_at: now,
    })
    .where('id', '=', id)
    .execute();
}
