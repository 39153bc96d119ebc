import { nullIfNotFound } from '../../../kernel/not-found.ts';
import type { SnapshotSource } from '../../../kernel/snapshots.ts';
import type { VideoCodec } from '../../../kernel/video-codecs.ts';
import type {
  BroadcastSegments,
  RecordingJoiner,
  Transcoder,
  Transcriber,
  VideoCutter,
} from '../../../media/contract/index.ts';
import type { Access, StreamSnapshot, VideoLinks } from '../../audience/playback/index.ts';
import type { ViewerFingerprints } from '../../audience/viewer-fingerprints/index.ts';
import type { paidVideos } from '../../commerce/members/index.ts';
import type { assertOwnTiers } from '../../commerce/tiers/index.ts';
import type { Recordings } from '../../live/recordings/index.ts';
import type { Streams } from '../../live/streams/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Imports } from '../imports/index.ts';
import type { Upload, Uploads } from '../uploads/index.ts';
import { audienceRoutes } from './audience/routes.ts';
import { type Audience, createAudience } from './audience/service.ts';
import { transcribeJob } from './captions/auto.jobs.ts';
import { autoCaptionRoutes } from './captions/auto.routes.ts';
import { createAutoCaptions } from './captions/auto.service.ts';
import { captionRoutes } from './captions/routes.ts';
import { createCaptions } from './captions/service.ts';
import { createTranscribeWorker } from './captions/transcribe.ts';
import { createClipCutting } from './clips/cutting.service.ts';
import { clipJob } from './clips/jobs.ts';
import { clipRoutes } from './clips/routes.ts';
import { type ClippedStreams, createClips } from './clips/service.ts';
import { videoEvents } from './events.ts';
import { createVideoIntake, type VideoIntake } from './intake/service.ts';
import { createTranscodeNode } from './processing/nodes.ts';
import {
  createVideoProcessing,
  processingJobs,
  type VideoProcessor,
} from './processing/processing.service.ts';
import { createVideoPurge, type VideoPurge } from './purge.service.ts';
import { replacementRoutes } from './replacement/routes.ts';
import { createReplacements } from './replacement/service.ts';
import { createRetention } from './retention.service.ts';
import { videoRoutes } from './routes.ts';
import { createVideos, type UploadSessions, type Videos } from './service.ts';
import { createVideoTakedowns, type VideoTakedowns } from './takedown.service.ts';
import { thumbnailRoutes } from './thumbnails/routes.ts';
import { createThumbnails } from './thumbnails/service.ts';
import { createLockVideo } from './with-locked-video.ts';

export {
  videoDeleted,
  videoProcessingCompleted,
  videoProcessingFailed,
  videoReplaced,
  videoReplacementFailed,
} from './events.ts';
export { countLiveSlots } from './processing/nodes.ts';
export { topHeight } from './processing/rules.ts';
export { canBePlayed } from './renditions.schemas.ts';
export { countPublicVideos, hasVideo } from './repository.ts';
export { toLinked } from './schemas.ts';
export { createVideoSnapshots } from './snapshot.service.ts';

export const videosDeclarations: Declarations = {
  events: videoEvents,
  jobs: [...processingJobs, transcribeJob],
};

interface ClipsDeps
  extends Pick<
    Platform,
    'bus' | 'clock' | 'config' | 'db' | 'disk' | 'events' | 'jobs' | 'log' | 'scratchDir' | 'store'
  > {
  recordings: Recordings;
  streams: Streams;
  videoLinks: VideoLinks;
  videos: Videos;
  intake: VideoIntake;
  streamSnapshots: SnapshotSource<StreamSnapshot>;
  broadcastSegments: BroadcastSegments;
  joiner: RecordingJoiner;
  cutter: VideoCutter;
  transcoder: Transcoder;
}

export const clipsDeclarations: Declarations = { jobs: [clipJob] };

/** Builds the clips of videos and broadcasts. */
export function createClipsModule(deps: ClipsDeps): FeatureModule {
  const shared = { ...deps, streams: clippedStreams(deps), segments: deps.broadcastSegments };
  return {
    routes: () => clipRoutes({ clips: createClips(shared), links: deps.videoLinks }),
    jobs: () => [createClipCutting(shared)],
  };
}

function clippedStreams(deps: ClipsDeps): ClippedStreams {
  const { streams, recordings, streamSnapshots } = deps;
  return {
    async broadcastOf(workspaceId, streamId) {
      const row = await streams.get(workspaceId, streamId);
      const stream = await streamSnapshots.find(streamId);
      if (stream === undefined) return null;
      const { isLive, liveSince, ended, currentSessionId: sessionId } = stream;
      // As `startedAt` tells partners: of a broadcast that waited for its signal, since that has come.
      const since = isLive ? (row.started_at ?? liveSince) : (ended?.since ?? null);
      if (since === null) return null;
      const untilMs = isLive ? null : (ended?.until.getTime() ?? null);
      return { ...stream, sessionId, sinceMs: since.getTime(), untilMs };
    },
    async isTakenDown(workspaceId, streamId) {
      const row = await streams.get(workspaceId, streamId).catch(nullIfNotFound);
      return row !== null && row.taken_down_at !== null;
    },
    recordingsOf: (sessionId) => recordings.of(sessionId),
  };
}

interface ProcessingDeps
  extends Pick<
    Platform,
    'bus' | 'clock' | 'config' | 'db' | 'disk' | 'events' | 'facts' | 'jobs' | 'log' | 'scratchDir' | 'store'
  > {
  bareVideoLinks: VideoLinks;
  transcoder: Transcoder;
  /** Throws while this machine has no usable ffmpeg. @param maxAgeMs maximum age of a cached result. */
  checkTools(maxAgeMs?: number): Promise<unknown>;
  /** Returns the configured codecs that this machine cannot encode. */
  missingCodecs(maxAgeMs: number): Promise<VideoCodec[]>;
  /** Reports whether hardware encodes videos. */
  hasHardware(): Promise<boolean>;
  /** Hooks called in the transaction in which a video becomes playable. */
  onPlayable: Parameters<typeof createVideoProcessing>[0]['onPlayable'];
}

const NODE_MS = 10_000;
/** A job does not wait for a look at ffmpeg: the worker looks every minute. */
const TOOLS_FRESH_MS = 150_000;

interface ProcessingExports {
  processing: VideoProcessor;
  videoPurge: VideoPurge;
  intake: VideoIntake;
}

/** Builds the processing of a video from the stored original to READY. */
export function createProcessingModule(deps: ProcessingDeps): FeatureModule & ProcessingExports {
  const { config, jobs, checkTools, hasHardware, missingCodecs } = deps;
  const processing = createVideoProcessing({
    ...deps,
    queue: jobs,
    links: deps.bareVideoLinks,
    chunkMinSec: config.VIDEO_CHUNK_MIN_SEC,
    isPerTitle: config.VIDEO_PER_TITLE,
    async furtherCodecs() {
      const lacking = await missingCodecs(TOOLS_FRESH_MS);
      return config.VIDEO_CODECS.filter((codec) => codec !== 'H264' && !lacking.includes(codec));
    },
    encodesWhole: hasHardware,
    async checkTools() {
      await checkTools(TOOLS_FRESH_MS);
    },
  });
  const videoPurge = createVideoPurge(deps);
  const node = transcodeNode(deps);
  return {
    processing,
    videoPurge,
    intake: createVideoIntake({ ...deps, processing, trash: videoPurge }),
    jobs: () => processing.workers(config.TRANSCODE_CONCURRENCY),
    tasks: () => [
      ...node.tasks(),
      { name: 'scratch files', everyMs: INTERVALS.hour, run: () => processing.clearScratch() },
      { name: 'stalled processing', everyMs: INTERVALS.minute, run: () => processing.sweep() },
    ],
    services: node.services,
  };
}

/** This worker among those that take encodes. */
function transcodeNode(deps: ProcessingDeps): Required<Pick<FeatureModule, 'tasks' | 'services'>> {
  const { config, checkTools } = deps;
  const node = createTranscodeNode(deps, config.TRANSCODE_CONCURRENCY);
  return {
    tasks: () => [
      {
        name: 'transcode node',
        everyMs: NODE_MS,
        run: async () => {
          // A node without a usable ffmpeg takes no encodes, and does not count as one that does.
          const isAble = await checkTools().then(
            () => true,
            () => false,
          );
          await (isAble ? node.heartbeat() : node.leave());
        },
      },
    ],
    services: { worker: () => ({ dispose: () => node.leave() }) },
  };
}

interface VideosDeps
  extends Pick<
    Platform,
    | 'bus'
    | 'clock'
    | 'cursors'
    | 'db'
    | 'disk'
    | 'events'
    | 'facts'
    | 'images'
    | 'jobs'
    | 'log'
    | 'secrets'
    | 'store'
  > {
  access: Access;
  arrivals: ViewerFingerprints;
  processing: VideoProcessor;
  uploadSessions: UploadSessions;
  uploads: Uploads;
  videoLinks: VideoLinks;
  videoPurge: VideoPurge;
  /** Null where no speech engine is configured. */
  transcriber: Transcriber | null;
  intake: VideoIntake;
  paidVideos: typeof paidVideos;
  assertOwnTiers: typeof assertOwnTiers;
  imports: Imports;
  Upload: typeof Upload;
}

interface VideosExports {
  videos: Videos;
  audience: Audience;
  videoPurge: VideoPurge;
  videoTakedowns: VideoTakedowns;
}

export function createVideosModule(deps: VideosDeps): FeatureModule & VideosExports {
  const { transcriber, Upload } = deps;
  const { cursors, processing, uploads, uploadSessions, access, videoPurge, videoLinks: links } = deps;
  const videos = createVideos({
    ...deps,
    uploads: uploadSessions,
    onDeleted: [
      (tx, _append, { id }) => uploads.cancelFor(tx, id),
      (tx, _append, { id }) => deps.jobs.cancel(tx, transcribeJob, id),
    ],
  });
  const retention = createRetention({ ...deps, remove: videos.remove });
  const locked = createLockVideo(deps);
  const captions = createCaptions({ ...deps, videos, locked });
  const autoCaptions = createAutoCaptions({
    ...deps,
    ...{ queue: deps.jobs, videos, locked, isThere: transcriber !== null },
  });
  const replacements = createReplacements({
    ...deps,
    uploads: { ...uploadSessions, cancelFor: uploads.cancelFor },
  });
  const thumbnails = createThumbnails({ ...deps, videos, locked });
  const audience = createAudience({
    ...deps,
    mayWatch: async (video, viewer) => (await access.passFor(video, viewer)) !== null,
  });
  return {
    videos,
    audience,
    videoPurge,
    videoTakedowns: createVideoTakedowns(deps),
    routes: () => [
      ...videoRoutes({ videos, links, cursors, Upload }),
      ...autoCaptionRoutes({ autoCaptions }),
      ...captionRoutes({ captions, links, cursors }),
      ...replacementRoutes({ replacements, links, Upload }),
      ...thumbnailRoutes({ thumbnails, links }),
      ...audienceRoutes({ audience, links }),
    ],
    jobs: () =>
      transcriber === null
        ? []
        : [createTranscribeWorker({ ...deps, transcriber, scratchDir: processing.scratchDir })],
    tasks: () => [
      { name: 'scheduled publications', everyMs: INTERVALS.second, run: () => videos.publishDue() },
      { name: 'recording retention', everyMs: INTERVALS.hour, run: () => retention.run() },
      { name: 'video purge', everyMs: INTERVALS.hour, run: () => videoPurge.run() },
      { name: 'audience cleanup', everyMs: INTERVALS.hour, run: () => audience.forgetViewers() },
    ],
  };
}
