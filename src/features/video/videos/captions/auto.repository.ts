import type { Selectable, Updateable } from 'kysely';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import type { VideoTranscriptionTable } from '../../../../platform/db/tables.generated.ts';

export type TranscriptionRow = Selectable<VideoTranscriptionTable>;

export function findTranscription(db: Db, videoId: string): Promise<TranscriptionRow | undefined> {
  return db.selectFrom('video_transcription').selectAll().where('video_id', '=', videoId).executeTakeFirst();
}

/** Inserts a transcription, replacing the previous one. */
export async function putTranscription(
  tx: Tx,
  asked: Pick<TranscriptionRow, 'video_id' | 'language' | 'requested_at'>,
): Promise<TranscriptionRow> {
  const fresh = { ...asked, status: 'QUEUED' as const, error: null, ended_at: null };
  return tx
    .insertInto('video_transcription')
    .values(fresh)
    .onConflict((conflict) => conflict.column('video_id').doUpdateSet(fresh))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateTranscription(
  db: Db,
  videoId: string,
  change: Updateable<VideoTranscriptionTable>,
): Promise<void> {
  await db.updateTable('video_transcription').set(change).where('video_id', '=', videoId).execute();
}

/** Finds the audio rendition of a video; the first of several. */
export function findAudio(db: Db, videoId: string) {
  return db
    .selectFrom('video')
    .innerJoin('video_rendition as r', (join) =>
      join.onRef('r.video_id', '=', 'video.id').onRef('r.revision', '=', 'video.revision'),
    )
    .select(['video.id', 'video.workspace_id', 'video.duration_sec', 'r.folder', 'r.name'])
    .where('video.id', '=', videoId)
    .where('video.deleted_at', 'is', null)
    .where('video.status', '=', 'READY')
    .where('r.kind', '=', 'AUDIO')
    .where('r.status', '=', 'READY')
    .orderBy('r.name')
    .executeTakeFirst();
}

export type AudioRow = NonNullable<Awaited<ReturnType<typeof findAudio>>>;

/** Deletes the transcription after the video's audio was replaced. */
export async function deleteTranscription(tx: Tx, videoId: string): Promise<void> {
  await tx.deleteFrom('video_transcription').where('video_id', '=', videoId).execute();
}
