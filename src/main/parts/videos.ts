import { paidVideos } from '../../features/commerce/members/index.ts';
import { assertOwnTiers } from '../../features/commerce/tiers/index.ts';
import { createImports, type Imports } from '../../features/video/imports/index.ts';
import { Upload, type Uploads } from '../../features/video/uploads/index.ts';
import {
  type Audience,
  audienceRoutes,
  autoCaptionRoutes,
  captionRoutes,
  createAudience,
  createAutoCaptions,
  createCaptions,
  createLockVideo,
  createReplacements,
  createRetention,
  createThumbnails,
  createTranscribeWorker,
  createVideos,
  createVideoTakedowns,
  replacementRoutes,
  thumbnailRoutes,
  transcribeJob,
  type UploadSessions,
  type VideoIntake,
  type VideoProcessor,
  type VideoPurge,
  type Videos,
  type VideoTakedowns,
  videoRoutes,
} from '../../features/video/videos/index.ts';
import { splitCommand } from '../../media/transcribe/command.ts';
import { createTranscriber } from '../../media/transcribe/index.ts';
import { ConfigError } from '../../platform/config.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';
import type { PlaybackUrls } from './addresses.ts';
import type { FingerprintServices } from './arrivals.ts';

/** Time without progress after which transcription is aborted; audio is read faster than real time. */
const STALL_MS = 120_000;

interface Needs extends BaseContext, FingerprintServices, Pick<PlaybackUrls, 'videoLinks' | 'access'> {
  processing: VideoProcessor;
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
  imports: Imports;
}

export function videosPart(needs: Needs): ModuleWithExports<Gives> {
  const { cursors, uploads, uploadSessions, access, videoPurge, videoLinks: links } = needs;
  const videos = createVideos({
    ...needs,
    uploads: uploadSessions,
    assertOwnTiers,
    onDeleted: [
      (tx, _append, { id }) => uploads.cancelFor(tx, id),
      (tx, _append, { id }) => needs.jobs.cancel(tx, transcribeJob, id),
    ],
  });
  const retention = createRetention({ ...needs, remove: videos.remove, paidVideos });
  const locked = createLockVideo(needs);
  const captions = createCaptions({ ...needs, videos, locked });
  const command = transcribeCommand(needs.config.TRANSCRIBE_COMMAND);
  const autoCaptions = createAutoCaptions({
    ...needs,
    ...{ queue: needs.jobs, videos, locked, isThere: command !== null },
  });
  const imports = createImports(needs);
  const replacements = createReplacements({
    ...{ ...needs, imports },
    uploads: { ...uploadSessions, cancelFor: uploads.cancelFor },
  });
  const thumbnails = createThumbnails({ ...needs, videos, locked });
  const audience = createAudience({
    ...needs,
    mayWatch: async (video, viewer) => (await access.passFor(video, viewer)) !== null,
  });
  return {
    exports: { videos, audience, videoPurge, videoTakedowns: createVideoTakedowns(needs), imports },
    module: {
      routes: () => [
        ...videoRoutes({ videos, links, cursors, Upload }),
        ...autoCaptionRoutes({ autoCaptions }),
        ...captionRoutes({ captions, links, cursors }),
        ...replacementRoutes({ replacements, links, Upload }),
        ...thumbnailRoutes({ thumbnails, links }),
        ...audienceRoutes({ audience, links }),
      ],
      jobs: () => (command === null ? [] : [transcribeWorker(needs, command)]),
      tasks: () => [
        { name: 'planned publications', everyMs: INTERVALS.second, run: () => videos.publishDue() },
        { name: 'old recordings', everyMs: INTERVALS.hour, run: () => retention.run() },
        { name: 'deleted videos', everyMs: INTERVALS.hour, run: () => videoPurge.run() },
        { name: 'counted viewers', everyMs: INTERVALS.hour, run: () => audience.forgetViewers() },
      ],
    },
  };
}

/** The words of the speech engine's command; null where there is no engine. */
function transcribeCommand(command: string): string[] | null {
  if (command === '') return null;
  try {
    return splitCommand(command);
  } catch (error) {
    throw new ConfigError(
      `TRANSCRIBE_COMMAND ${error instanceof Error ? error.message : 'is not a command'}`,
    );
  }
}

function transcribeWorker(needs: Needs, command: readonly string[]) {
  const { config, guard, encoderThreads: threads, log, processing } = needs;
  const { FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe } = config;
  const tools = { ffmpeg, ffprobe, guard, threads, log, stallMs: STALL_MS };
  const transcriber = createTranscriber({ ...tools, command });
  return createTranscribeWorker({ ...needs, transcriber, scratchDir: processing.scratchDir });
}
