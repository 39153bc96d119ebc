import type { VideoCodec } from '../../../../kernel/video-codecs.ts';
import type { RenditionFiles } from '../../../../media/contract/index.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import { finishRendition } from './repository.ts';

/** Adds up nothing: the progress of a video that is READY is 100. */
export async function insertAdditionalRenditions(
  tx: Tx,
  videoId: string,
  revision: number,
  { folder, made }: { folder: string; made: RenditionFiles },
): Promise<void> {
  await finishRendition(tx, videoId, revision, { folder, made, status: 'PROCESSING' });
}

/** All renditions of a codec can be played. */
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

/** Those that are not shown will not be made. */
export async function deleteAdditionalRenditions(tx: Tx, videoId: string, revision: number): Promise<void> {
  await tx
    .deleteFrom('video_rendition')
    .where('video_id', '=', videoId)
    .where('revision', '=', revision)
    .where('codec', '<>', 'H264')
    .where('status', '<>', 'READY')
    .execute();
}

/** Pictures that are not to be made after all. */
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
