import type { Insertable, Selectable } from 'kysely';
import type { PageRequest } from '../../../../kernel/page.ts';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import { pageCondition } from '../../../../platform/db/page.ts';
import type { VideoCaptionTable } from '../../../../platform/db/tables.generated.ts';

export type CaptionRow = Selectable<VideoCaptionTable>;

export function listCaptions(db: Db, videoId: string, page: PageRequest): Promise<CaptionRow[]> {
  return db
    .selectFrom('video_caption')
    .selectAll()
    .where('video_id', '=', videoId)
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.fetchLimit)
    .execute();
}

/** Lists the captions of a video in player order. */
export function allCaptions(db: Db, videoId: string): Promise<CaptionRow[]> {
  return db
    .selectFrom('video_caption')
    .selectAll()
    .where('video_id', '=', videoId)
    .orderBy('position')
    .orderBy('language')
    .execute();
}

/** Maximum number of caption languages of one video, uploaded and automatic ones together. */
export const MAX_LANGUAGES = 100;

/** Reports whether a video has as many captions as allowed. */
export async function hasAllCaptions(tx: Tx, videoId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('video_caption')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('video_id', '=', videoId)
    .executeTakeFirstOrThrow();
  return row.count >= MAX_LANGUAGES;
}

export function insertCaption(tx: Tx, caption: Insertable<VideoCaptionTable>): Promise<CaptionRow> {
  return tx.insertInto('video_caption').values(caption).returningAll().executeTakeFirstOrThrow();
}

/**
 * Deletes the captions that came with the file of the video.
 *
 * @returns their files, which are no longer needed.
 */
export function deleteSourceCaptions(tx: Tx, videoId: string): Promise<string[]> {
  return deleteCaptions(tx, videoId, 'from_source');
}

/**
 * Deletes the automatic captions of the video.
 *
 * @returns their files, which are no longer needed.
 */
export function deleteAutoCaptions(tx: Tx, videoId: string): Promise<string[]> {
  return deleteCaptions(tx, videoId, 'is_auto');
}

async function deleteCaptions(tx: Tx, videoId: string, kind: 'from_source' | 'is_auto'): Promise<string[]> {
  const rows = await tx
    .deleteFrom('video_caption')
    .where('video_id', '=', videoId)
    .where(kind, '=', true)
    .returning('file')
    .execute();
  return rows.map(({ file }) => file);
}

export async function captionLanguages(tx: Tx, videoId: string): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('video_caption')
    .select('language')
    .where('video_id', '=', videoId)
    .execute();
  return new Set(rows.map(({ language }) => language));
}

/** @returns the file that is no longer needed; undefined when there were no captions in this language. */
export async function deleteCaption(tx: Tx, videoId: string, language: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom('video_caption')
    .where('video_id', '=', videoId)
    .where('language', '=', language)
    .returning('file')
    .executeTakeFirst();
  return row?.file;
}

export function findCaption(db: Db, videoId: string, language: string): Promise<CaptionRow | undefined> {
  return db
    .selectFrom('video_caption')
    .selectAll()
    .where('video_id', '=', videoId)
    .where('language', '=', language)
    .executeTakeFirst();
}
