import type { Events } from '../events/index.ts';
import { createUploads, toUpload } from '../features/uploads/index.ts';
import type { StorageQuota } from '../features/usage/index.ts';
import {
  createAudience,
  createCaptions,
  createLockVideo,
  createThumbnails,
  createVideoIntake,
  createVideoPurge,
  createVideos,
  type UploadSessions,
  type VideoProcessing,
} from '../features/videos/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BlobStore } from '../media/contract/index.ts';
import type { Bus } from '../platform/bus.ts';
import type { Config } from '../platform/config.ts';
import type { Db } from '../platform/db/index.ts';
import type { Images } from '../platform/images.ts';
import type { Logger } from '../platform/logger.ts';
import type { Secrets } from '../platform/secrets.ts';
import { createVideoTokens } from './links.ts';

interface Parts {
  config: Config;
  db: Db;
  events: Events;
  bus: Bus;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  store: BlobStore;
  quota: StorageQuota;
  images: Images;
  processing: VideoProcessing;
}

/** Joins videos with what brings their files, what is made of them, and what they count. */
export function composeVideos(parts: Parts) {
  const { config, clock, secrets, processing } = parts;
  const intake = createVideoIntake({ clock, processing });
  const uploads = createUploads({ ...parts, videos: intake, publicUrl: config.PUBLIC_URL });
  const sessions: UploadSessions = {
    async open(tx, workspaceId, videoId, file) {
      const row = await uploads.open(tx, workspaceId, videoId, file);
      return { id: row.id, shown: toUpload(row, uploads.urlOf(row)) };
    },
  };
  const videos = createVideos({
    ...parts,
    uploads: sessions,
    onDeleted: [(tx, _append, video) => uploads.cancelFor(tx, video.id)],
  });
  const locked = createLockVideo(parts);
  const tokens = createVideoTokens(secrets, clock);
  return {
    intake,
    uploads,
    videos,
    captions: createCaptions({ ...parts, videos, locked }),
    thumbnails: createThumbnails({ ...parts, videos, locked }),
    audience: createAudience({ ...parts, opens: (token, id) => tokens.read(token, id) === 'playback' }),
    videoPurge: createVideoPurge(parts),
  };
}
