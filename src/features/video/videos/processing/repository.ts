import { type Selectable, sql } from 'kysely';
import type {
  LadderPlan,
  RenditionFiles,
  SourceChunk,
  SourceInfo,
} from '../../../../media/contract/index.ts';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import type {
  VideoProcessingMode as ProcessingMode,
  VideoProcessingTable,
} from '../../../../platform/db/tables.generated.ts';
import type { VideoRow } from '../repository.ts';

export interface Processing extends Omit<Selectable<VideoProcessingTable>, 'source' | 'ladder'> {
  source: SourceInfo;
  ladder: LadderPlan;
}

export function findVideo(db: Db, id: string): Promise<VideoRow | undefined> {
  return db
    .selectFrom('video')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Returns undefined until the source of this revision has been probed. */
export async function findProcessing(
  db: Db,
  videoId: string,
  revision: number,
): Promise<Processing | undefined> {
  const row = await db
    .selectFrom('video_processing')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const source: SourceInfo = JSON.parse(row.source);
  const ladder: LadderPlan = JSON.parse(row.ladder);
  return { ...row, source, ladder };
}

export interface NewProcessing {
  videoId: string;
  revision: number;
  source: SourceInfo;
  ladder: LadderPlan;
  mode: ProcessingMode;
  alignToSource: boolean;
  now: Date;
}

/**
 * Inserts a processing. Deletes those of previous revisions, except of the file that plays and of files that
 * it replaced.
 */
export async function insertProcessing(tx: Tx, made: NewProcessing): Promise<void> {
  const { videoId, revision, source, ladder, mode, alignToSource, now } = made;
  await sql`
    delete from video_processing old
    where video_id = ${videoId} and revision <= ${revision}
      and not exists (select from video where video.id = old.video_id and video.revision = old.revision
        and video.revision <> ${revision})
      and not exists (select from video_replacement later
        where later.video_id = old.video_id and later.previous_revision = old.revision)`.execute(tx);
  await tx.deleteFrom('video_chunk').where('video_id', '=', videoId).execute();
  await tx
    .insertInto('video_processing')
    .values({
      video_id: videoId,
      revision,
      source: JSON.stringify(source),
      ladder: JSON.stringify(ladder),
      mode,
      align_to_source: alignToSource,
      captions_done: source.captions.length === 0,
      last_activity_at: now,
    })
    .execute();
  await tx
    .insertInto('video_rendition')
    .values([
      ...[...ladder.rungs, ...ladder.further].map(({ name, codec, width, height, frameRate }) => ({
        video_id: videoId,
        revision,
        name,
        kind: 'VIDEO' as const,
        codec,
        status: 'PENDING' as const,
        width,
        height,
        frame_rate: frameRate,
      })),
      ...ladder.audio.map(({ name, track, language, label, channels, isDescription }) => ({
        video_id: videoId,
        revision,
        name,
        kind: 'AUDIO' as const,
        status: 'PENDING' as const,
        ...{ track, language, label, channels, is_description: isDescription },
      })),
    ])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

type ProcessingChange = Partial<
  Pick<VideoProcessingTable, 'mode' | 'source' | 'ladder' | 'last_activity_at'> & {
    images_done: boolean;
    captions_done: boolean;
    restart_count: number;
  }
>;

export async function updateProcessing(
  tx: Tx,
  videoId: string,
  revision: number,
  change: ProcessingChange,
): Promise<void> {
  await tx
    .updateTable('video_processing')
    .set(change)
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .execute();
}

/** Deletes pending audio renditions that are no longer planned. */
export async function deleteUnplannedAudio(
  tx: Tx,
  videoId: string,
  revision: number,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await tx
    .deleteFrom('video_rendition')
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('kind', '=', 'AUDIO')
    .where('name', 'in', names)
    .execute();
}

export function renditionsOf(db: Db, videoId: string, revision: number) {
  return db
    .selectFrom('video_rendition')
    .select(['name', 'kind', 'codec', 'status', 'folder', 'width', 'height'])
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .execute();
}

/** The rungs' names and those of the audio are those of the plan; their true figures come with the files. */
export async function finishRenditions(
  tx: Tx,
  videoId: string,
  revision: number,
  folder: string,
  made: readonly RenditionFiles[],
): Promise<void> {
  for (const one of made)
    await finishRendition(tx, videoId, revision, { folder, made: one, status: 'READY' });
  await sumProgress(tx, videoId, revision);
}

interface Finished {
  folder: string;
  made: RenditionFiles;
  status: 'READY' | 'PROCESSING';
}

/** Stores the properties and files of one rendition. */
export async function finishRendition(
  tx: Tx,
  videoId: string,
  revision: number,
  { folder, made, status }: Finished,
): Promise<void> {
  await tx
    .updateTable('video_rendition')
    .set({
      status,
      folder,
      width: made.width,
      height: made.height,
      frame_rate: made.frameRate,
      codecs: made.codecs,
      video_range: made.videoRange,
      average_bitrate: made.averageBitrate,
      peak_bitrate: made.peakBitrate,
      iframe_bitrate: made.iframeBitrate,
      size_bytes: made.sizeBytes,
      progress_percent: 100,
    })
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('name', '=', made.name)
    .execute();
}

/** @param percent of the work on these rungs; never falls, however often it is begun again. */
export async function writeProgress(
  db: Db,
  videoId: string,
  revision: number,
  names: readonly string[],
  percent: number,
): Promise<void> {
  if (names.length === 0) return;
  await db
    .updateTable('video_rendition')
    .set({
      status: sql`case when status = 'PENDING' then 'PROCESSING' else status end`,
      progress_percent: sql<number>`greatest(progress_percent, ${percent}::float8)`,
    })
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('name', 'in', names)
    .execute();
  await sumProgress(db, videoId, revision);
}

export async function writeChunkProgress(
  db: Db,
  videoId: string,
  revision: number,
  chunk: { number: number; rungs: readonly string[]; percent: number },
): Promise<void> {
  await db
    .updateTable('video_chunk')
    .set({ progress_percent: sql<number>`greatest(progress_percent, ${chunk.percent}::float8)` })
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('number', '=', chunk.number)
    .execute();
  const { percent } = await db
    .selectFrom('video_chunk')
    .select(sql<number>`coalesce(sum(progress_percent * duration_sec) / sum(duration_sec), 0)`.as('percent'))
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .executeTakeFirstOrThrow();
  await writeProgress(db, videoId, revision, chunk.rungs, percent);
}

function progressOf(videoId: string, revision: number) {
  return sql`
    select coalesce(floor(sum(progress_percent * weight) / nullif(sum(weight), 0)), 0) as percent
    from (select progress_percent, width::float8 * height * frame_rate as weight from video_rendition
      where video_id = ${videoId} and revision = ${revision} and codec = 'H264') rung`;
}

/**
 * Updates the progress, weighted by pixels and frame rate (docs/decisions/transcoding.md#progress); 100 is
 * reserved for READY.
 */
async function sumProgress(db: Db, videoId: string, revision: number): Promise<void> {
  await sql`
    update video set progress_percent = greatest(progress_percent, least(99, total.percent))
    from (${progressOf(videoId, revision)}) total
    where id = ${videoId} and revision = ${revision} and status = 'PROCESSING'`.execute(db);
  await sql`
    update video_replacement set progress_percent = greatest(progress_percent, least(99, total.percent))
    from (${progressOf(videoId, revision)}) total
    where video_id = ${videoId} and revision = ${revision} and status = 'PROCESSING'`.execute(db);
}

export async function insertChunks(
  tx: Tx,
  videoId: string,
  revision: number,
  chunks: readonly (Pick<SourceChunk, 'index' | 'startSec' | 'durationSec'> & { key: string })[],
): Promise<void> {
  await tx
    .insertInto('video_chunk')
    .values(
      chunks.map((chunk) => ({
        video_id: videoId,
        revision,
        number: chunk.index,
        start_sec: chunk.startSec,
        duration_sec: chunk.durationSec,
        source_key: chunk.key,
        folder: null,
      })),
    )
    .execute();
}

export function chunksOf(db: Db, videoId: string, revision: number) {
  return db
    .selectFrom('video_chunk')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .orderBy('number')
    .execute();
}

export async function finishChunk(
  tx: Tx,
  videoId: string,
  revision: number,
  number: number,
  folder: string,
): Promise<void> {
  await tx
    .updateTable('video_chunk')
    .set({ folder, progress_percent: 100 })
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('number', '=', number)
    .execute();
}

/** Claims a folder that no other run uses: `r<revision>a<number>`. */
export async function claimFolder(db: Db, videoId: string, revision: number): Promise<string> {
  const { rows } = await sql<{ number: number }>`
    insert into video_folder (video_id, revision, number)
    select ${videoId}, ${revision}, coalesce(max(number), 0) + 1 from video_folder where video_id = ${videoId}
    on conflict do nothing
    returning number`.execute(db);
  const number = rows[0]?.number;
  // A concurrent run of this video took the number.
  return number === undefined ? claimFolder(db, videoId, revision) : `r${revision}a${number}`;
}

/** Lists unreferenced folders of a processed video; none while it is being processed. */
export async function unusedFolders(db: Db, videoId: string): Promise<{ number: number; name: string }[]> {
  const { rows } = await sql<{ number: number; name: string }>`
    select folder.number, 'r' || folder.revision || 'a' || folder.number as name
    from video_folder folder join video on video.id = folder.video_id
    where video.id = ${videoId} and video.status in ('READY', 'FAILED') and video.deleted_at is null
      and not (video.status = 'READY' and exists (select from video_rendition open
        where open.video_id = video.id and open.revision = video.revision and open.status <> 'READY'))
      and 'r' || folder.revision || 'a' || folder.number is distinct from video.image_folder
      and not exists (select from video_replacement r where r.video_id = video.id
        and (r.previous_revision = folder.revision
          or r.revision = folder.revision and r.status in ('QUEUED', 'PROCESSING')))
      and not exists (select from video_rendition rendition
        where rendition.video_id = video.id and rendition.revision = video.revision
          and rendition.folder = 'r' || folder.revision || 'a' || folder.number)`.execute(db);
  return rows;
}

export async function forgetFolder(db: Db, videoId: string, number: number): Promise<void> {
  await db.deleteFrom('video_folder').where('video_id', '=', videoId).where('number', '=', number).execute();
}

/** Deletes the chunks, and the renditions of previous revisions except playable ones of replaced files. */
export async function deletePreviousRevisions(tx: Tx, videoId: string, revision: number): Promise<void> {
  await tx.deleteFrom('video_chunk').where('video_id', '=', videoId).execute();
  await tx
    .deleteFrom('video_rendition')
    .where('video_id', '=', videoId)
    .where('revision', '<', revision)
    .where(
      sql<boolean>`not exists (select from video_replacement later where later.video_id = video_rendition.video_id
        and later.previous_revision = video_rendition.revision and video_rendition.status = 'READY')`,
    )
    .execute();
}

/** Lists videos whose processing has been inactive since `before`. */
export async function listStalledProcessing(
  db: Db,
  before: Date,
): Promise<{ id: string; revision: number }[]> {
  return (
    db
      .selectFrom('video')
      .leftJoin('video_processing', (join) =>
        join
          .onRef('video_processing.video_id', '=', 'video.id')
          .onRef('video_processing.revision', '=', 'video.revision'),
      )
      .select(['video.id', 'video.revision'])
      // Literals: they are what the index of unfinished videos is limited to.
      .where('video.status', 'in', [sql.lit('QUEUED' as const), sql.lit('PROCESSING' as const)])
      .where('video.deleted_at', 'is', null)
      .where(
        (where) => where.fn.coalesce('video_processing.last_activity_at', 'video.updated_at'),
        '<',
        before,
      )
      .limit(100)
      .execute()
  );
}

/** Counts the transcode slots of all nodes seen since `since`. */
export async function countSlots(db: Db, since: Date): Promise<number> {
  const { slots } = await db
    .selectFrom('transcode_node')
    .select(sql<number>`coalesce(sum(slots), 0)::int`.as('slots'))
    .where('last_seen_at', '>', since)
    .executeTakeFirstOrThrow();
  return slots;
}

export async function touchNode(db: Db, id: string, slots: number, now: Date): Promise<void> {
  await db
    .insertInto('transcode_node')
    .values({ id, slots, last_seen_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ slots, last_seen_at: now }))
    .execute();
}

export async function removeNodes(db: Db, id: string, unseenSince: Date): Promise<void> {
  await db
    .deleteFrom('transcode_node')
    .where((where) => where.or([where('id', '=', id), where('last_seen_at', '<', unseenSince)]))
    .execute();
}
