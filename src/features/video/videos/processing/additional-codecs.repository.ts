import type { VideoCodec } from '../../../../kernel/video-codecs.ts';
import type { RenditionFiles } from '../../../../media/contract/index.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import { finishRendition } from './repository.ts';

/** Inserts renditions without updating the progress: that of a READY video is 100. */
export async function insertAdditionalRenditions(
  tx: Tx,
  videoId: string,
  revision: number,
  { folder, made }: { folder: string; made: RenditionFiles },
): Promise<void> {
  await finishRendition(tx, videoId, revision, { folder, made, status: 'PROCESSING' });
}

/** Publishes a codec whose renditions are all playable. */
export async function publishAdditionalRenditions(
  tx: Tx,
  videoId: string,
  revision: number,
  codec: VideoCodec,
): Promise<void> {
  await tx
    .updateTable('video_rendition')
    .set({ status: 'READY' })
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('codec', '=', codec)
    .execute();
}

/** Deletes the renditions in additional codecs that are not READY. */
export async function deleteAdditionalRenditions(tx: Tx, videoId: string, revision: number): Promise<void> {
  await tx
    .deleteFrom('video_rendition')
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('codec', '<>', 'H264')
    .where('status', '<>', 'READY')
    .execute();
}

/** Deletes pending video renditions that are no longer planned. */
export async function deleteUnplannedRenditions(
  tx: Tx,
  videoId: string,
  revision: number,
  names: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('video_rendition')
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('kind', '=', 'VIDEO')
    .where('status', '<>', 'READY')
    .where('name', 'not in', names)
    .execute();
}
