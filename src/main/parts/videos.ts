import { paidVideos } from '../../features/members/index.ts';
import { assertOwnTiers } from '../../features/tiers/index.ts';
import { Upload, type Uploads } from '../../features/uploads/index.ts';
import {
  type Audience,
  audienceRoutes,
  captionRoutes,
  createAudience,
  createCaptions,
  createLockVideo,
  createRetention,
  createThumbnails,
  createVideos,
  createVideoTakedowns,
  thumbnailRoutes,
  type UploadSessions,
  type VideoIntake,
  type VideoProcessing,
  type VideoPurge,
  type Videos,
  type VideoTakedowns,
  videoRoutes,
} from '../../features/videos/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';
import type { Addresses } from './addresses.ts';
import type { Arriving } from './arrivals.ts';

interface Needs extends Base, Arriving, Pick<Addresses, 'videoLinks' | 'access'> {
  processing: VideoProcessing;
  intake: VideoIntake;
  uploads: Uploads;
  uploadSessions: UploadSessions;
  videoPurge: VideoPurge;
}

interface Gives {
  videos: Videos;
  audience: Audience;
  videoPurge: VideoPurge;
  videoTakedowns: VideoTakedowns;
}

export function videosPart(needs: Needs): Built<Gives> {
  const { cursors, uploads, uploadSessions, access, videoPurge, videoLinks: links } = needs;
  const videos = createVideos({
    ...needs,
    uploads: uploadSessions,
    assertOwnTiers,
    onDeleted: [(tx, _append, video) => uploads.cancelFor(tx, video.id)],
  });
  const retention = createRetention({ ...needs, remove: videos.remove, paidVideos });
  const locked = createLockVideo(needs);
  const captions = createCaptions({ ...needs, videos, locked });
  const thumbnails = createThumbnails({ ...needs, videos, locked });
  const audience = createAudience({
    ...needs,
    mayWatch: async (video, viewer) => (await access.passFor(video, viewer)) !== null,
  });
  return {
    gives: { videos, audience, videoPurge, videoTakedowns: createVideoTakedowns(needs) },
    part: {
      routes: () => [
        ...videoRoutes({ videos, links, cursors, Upload }),
        ...captionRoutes({ captions, links, cursors }),
        ...thumbnailRoutes({ thumbnails, links }),
        ...audienceRoutes({ audience, links }),
      ],
      tasks: () => [
        { name: 'planned publications', everyMs: EVERY.second, run: () => videos.publishDue() },
        { name: 'old recordings', everyMs: EVERY.hour, run: () => retention.run() },
        { name: 'deleted videos', everyMs: EVERY.hour, run: () => videoPurge.run() },
        { name: 'counted viewers', everyMs: EVERY.hour, run: () => audience.forgetViewers() },
      ],
    },
  };
}
