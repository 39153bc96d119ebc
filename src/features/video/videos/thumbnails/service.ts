import type { Clock } from '../../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../../kernel/errors.ts';
import { newUuid } from '../../../../kernel/ids.ts';
import { videoPrefix } from '../../../../kernel/media-keys.ts';
import type { BlobStore } from '../../../../media/contract/index.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import type { DiskSpace } from '../../../../platform/disk.ts';
import type { Images } from '../../../../platform/images.ts';
import type { VideoProcessing } from '../intake/service.ts';
import type { VideoDetails, VideoRow } from '../repository.ts';
import * as repository from '../repository.ts';
import type { LockVideo } from '../with-locked-video.ts';

/** Custom thumbnails in place of the poster. Functions reject with NOT_FOUND for a missing video. */
export interface Thumbnails {
  /** @throws {AppError} BAD_REQUEST, field `file`, when the bytes are not an image. */
  put(workspaceId: string, videoId: string, bytes: Uint8Array): Promise<VideoDetails>;
  /** Requests a moment of the video as the thumbnail, shown as soon as it has been extracted. */
  take(workspaceId: string, videoId: string, atSec: number | null): Promise<VideoDetails>;
  /**
   * Restores the poster.
   *
   * @throws {AppError} NOT_FOUND when there is no custom thumbnail.
   */
  remove(workspaceId: string, videoId: string): Promise<void>;
}

/** Maximum size of an uploaded image. */
export const THUMBNAIL_MAX_BYTES = 5_242_880;
const LONG_SIDE = 1280;

interface Deps {
  store: Pick<BlobStore, 'put' | 'delete'>;
  disk: Pick<DiskSpace, 'admit'>;
  images: Pick<Images, 'within'>;
  processing: Pick<VideoProcessing, 'thumbnail'>;
  clock: Clock;
  videos: { get(workspaceId: string, id: string): Promise<VideoDetails> };
  locked: LockVideo;
}

export function createThumbnails(deps: Deps): Thumbnails {
  const { store, disk, images, processing, clock, videos, locked } = deps;
  const keyOf = (workspaceId: string, videoId: string, file: string) =>
    `${videoPrefix({ workspace_id: workspaceId, id: videoId })}/thumbnails/${file}`;
  /** Replaces the thumbnail file and withdraws a pending thumbnail request. */
  const replace = async (tx: Tx, row: VideoRow, file: string | null) => {
    await processing.thumbnail(tx, row, null);
    await repository.updateVideo(tx, row.id, { thumbnail_file: file, updated_at: clock.now() });
    return row.thumbnail_file;
  };
  return {
    async put(workspaceId, videoId, bytes) {
      await videos.get(workspaceId, videoId);
      const image = await images.within(bytes, LONG_SIDE);
      if (image === null) throw badRequest('file', 'The file is not a valid PNG, JPEG or WebP image.');
      const file = `${newUuid()}.jpg`;
      const key = keyOf(workspaceId, videoId, file);
      await disk.admit(image.length);
      await store.put(key, image, 'image/jpeg');
      const old = await locked(workspaceId, videoId, (tx, row) => replace(tx, row, file)).catch(
        async (error: unknown) => {
          await store.delete(key);
          throw error;
        },
      );
      if (old !== null) await store.delete(keyOf(workspaceId, videoId, old));
      return videos.get(workspaceId, videoId);
    },
    async take(workspaceId, videoId, atSec) {
      await locked(workspaceId, videoId, async (tx, row) => {
        if (atSec === null) {
          throw badRequest('file', 'Send a file as multipart/form-data, or {atSec} as JSON.');
        }
        if (row.status !== 'READY' || row.duration_sec === null) {
          throw new AppError('CONFLICT', { message: 'atSec is only available for READY videos.' });
        }
        if (atSec >= row.duration_sec) {
          throw badRequest('atSec', `The video ends after ${row.duration_sec} seconds.`);
        }
        await processing.thumbnail(tx, row, atSec);
      });
      return videos.get(workspaceId, videoId);
    },
    async remove(workspaceId, videoId) {
      const old = await locked(workspaceId, videoId, (tx, row) => replace(tx, row, null));
      if (old === null) throw notFound();
      await store.delete(keyOf(workspaceId, videoId, old));
    },
  };
}
