import type { Insertable } from 'kysely';
import { systemClock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { Db } from '../../src/platform/db/index.ts';
import type { VideoTable } from '../../src/platform/db/tables.generated.ts';
import { TestClock } from './clock.ts';

type Columns = Partial<Omit<Insertable<VideoTable>, 'id' | 'workspace_id'>>;

/**
 * Inserts only the rows of a READY 1080p video of 60 seconds with two rungs: it is not playable.
 *
 * @returns its ID.
 */
export async function insertReadyVideo(db: Db, workspaceId: string, columns: Columns = {}): Promise<string> {
  const id = await insertVideo(db, workspaceId, {
    status: 'READY',
    original_key: `w/${workspaceId}/v/none/original/none`,
    size_bytes: 1_000_000,
    duration_sec: 60,
    width: 1920,
    height: 1080,
    frame_rate: 30,
    progress_percent: 100,
    attempt: 1,
    image_folder: 'r0a1',
    published_at: columns.visibility === 'PRIVATE' ? null : systemClock.now(),
    ...columns,
  });
  await insertRung(db, id, 1080);
  await insertRung(db, id, 360);
  return id;
}

/** Inserts a video that waits for its file, by default. @returns its ID. */
export async function insertVideo(db: Db, workspaceId: string, columns: Columns = {}): Promise<string> {
  const { created_at: at } = columns;
  const id = newId('vid', at === undefined ? systemClock : new TestClock(new Date(at).getTime()));
  const row = { title: 'A video', status: 'UPLOADING', visibility: 'PUBLIC', source: 'UPLOAD' } as const;
  await db
    .insertInto('video')
    .values({ ...row, ...columns, id, workspace_id: workspaceId })
    .execute();
  return id;
}

/** Inserts a playable rung of revision 0 with this height. */
async function insertRung(db: Db, videoId: string, height: number): Promise<void> {
  await db
    .insertInto('video_rendition')
    .values({
      video_id: videoId,
      revision: 0,
      name: `${height}p`,
      kind: 'VIDEO',
      status: 'READY',
      folder: 'r0a1',
      width: (height * 16) / 9,
      height,
      frame_rate: 30,
      codecs: 'avc1.640028',
      average_bitrate: height * 3000,
      peak_bitrate: height * 4000,
      size_bytes: 1000,
      progress_percent: 100,
    })
    .execute();
}

export interface VideoEvent {
  type: string;
  data: Record<string, unknown>;
}

/** The events of one video, oldest first. */
export async function videoEvents(db: Db, videoId: string): Promise<VideoEvent[]> {
  const rows = await db.selectFrom('event').select('body').orderBy('seq').execute();
  return rows
    .map(({ body }): VideoEvent => JSON.parse(body))
    .filter(({ type, data }) => type.startsWith('video.') && data.videoId === videoId);
}
