import {
  beaconPage,
  createAdmissions,
  createBeacons,
  createDownloads,
  createImpressions,
  createPlaybackSessions,
  createSnapshots,
  createWatching,
  type Downloads,
  downloadPages,
  downloadRoutes,
  embeddableStream,
  embeddableVideo,
  type LiveChat,
  liveFilePages,
  liveWatchPages,
  type OnBytesSent,
  oembedPage,
  type PlaybackSessions,
  playbackTokenRoutes,
  type RenderFollowBox,
  SESSION_ID,
  type Snapshots,
  STREAM_ID,
  type StreamSnapshot,
  VIDEO_ID,
  type VideoSnapshot,
  videoFilePages,
  videoWatchPages,
} from '../../features/audience/playback/index.ts';
import type { UsageAggregator } from '../../features/insight/usage/index.ts';
import { createLiveHistory } from '../../features/live/dvr/index.ts';
import type { Recordings } from '../../features/live/recordings/index.ts';
import {
  createStreamSnapshots,
  createViewers,
  VIEWER_FLUSH_MS,
  type Viewers,
} from '../../features/live/streams/index.ts';
import { createVideoSnapshots } from '../../features/video/videos/index.ts';
import { startSchedule } from '../../jobs/schedule.ts';
import type { VideoFiles } from '../../media/contract/index.ts';
import type { LiveSource } from '../../media/nodes/live-source.ts';
import { createLiveFiles, createVideoFiles } from '../../media/playback/index.ts';
import type { Logger } from '../../platform/logger.ts';
import {
  INTERVALS,
  type ModuleWithExports,
  type Page,
  type PageRole,
  type Service,
} from '../feature-module.ts';
import { mediaOriginsOf } from '../media-origins.ts';
import type { BaseContext } from '../wiring.ts';
import type { PlaybackUrls } from './addresses.ts';
import type { FingerprintServices } from './arrivals.ts';

type Needs = BaseContext &
  FingerprintServices &
  Pick<PlaybackUrls, 'playbackTokens' | 'access' | 'sellers' | 'hasWhep'> & {
    recordings: Recordings;
    liveChat: LiveChat;
    followBox: RenderFollowBox;
    tally: UsageAggregator;
    liveSource: LiveSource;
  };

/** Snapshots for viewers. */
interface PlaybackSnapshots {
  streams: Snapshots<StreamSnapshot>;
  videos: Snapshots<VideoSnapshot>;
  recordings: Snapshots<readonly string[]>;
}

interface Gives {
  snapshots: PlaybackSnapshots;
  viewers: Viewers;
}

/** Builds the playback for viewers: live streams, videos, and their pages. */
export function playbackPart(needs: Needs): ModuleWithExports<Gives> {
  const { config, log, playbackTokens: tokens } = needs;
  const sessions = createPlaybackSessions(needs);
  const snapshots: PlaybackSnapshots = {
    streams: createSnapshots(createStreamSnapshots(needs), STREAM_ID),
    videos: createSnapshots(createVideoSnapshots(needs), VIDEO_ID),
    recordings: createSnapshots(
      { find: (id) => needs.recordings.videosOf(id), onChanged: () => {} },
      SESSION_ID,
    ),
  };
  const viewers = createViewers(needs);
  const videoFiles = createVideoFiles({ store: needs.store, accelPrefix: config.ACCEL_REDIRECT_PREFIX });
  const downloads = createDownloads({
    ...needs,
    videos: snapshots.videos,
    files: videoFiles,
    publicUrl: config.PUBLIC_URL,
  });
  return {
    exports: { snapshots, viewers },
    module: {
      routes: () => [
        ...playbackTokenRoutes({ ...snapshots, tokens, sessions, publicUrl: config.PUBLIC_URL }),
        ...downloadRoutes({ downloads }),
      ],
      pages: (role) =>
        playbackPages({ ...needs, sessions, videoFiles, downloads }, { snapshots, viewers }, role),
      services: { api: () => countViewers(viewers, log) },
      tasks: () => [{ name: 'viewer salts', everyMs: INTERVALS.hour, run: () => viewers.forget() }],
    },
  };
}

async function playbackPages(
  needs: Needs & { sessions: PlaybackSessions; videoFiles: VideoFiles; downloads: Downloads },
  { snapshots: { streams, videos, recordings }, viewers }: Gives,
  { assets }: PageRole,
): Promise<Page[]> {
  const { config, clock, store, platformHosts, access, sellers, playbackTokens: tokens } = needs;
  const { arrivals, followBox, liveChat, tally, videoFiles, downloads } = needs;
  const publicUrl = config.PUBLIC_URL;
  const reception = createImpressions(needs);
  const admissions = createAdmissions({ videos, access, platformHosts });
  const liveFiles = createLiveFiles({
    source: needs.liveSource,
    kept: { history: createLiveHistory(needs.db), openFile: videoFiles.openFile },
  });
  const sentBytes: OnBytesSent = {
    add: ({ workspaceId, id: subjectId }, amount) =>
      tally.add({ kind: 'EGRESS', workspaceId, subjectId, amount }),
  };
  const mediaOrigins = await mediaOriginsOf(store);
  return [
    liveFilePages({
      ...{ streams, recordings, videos, access, viewers, arrivals, sentBytes, clock },
      files: liveFiles,
      watching: createWatching({ clock }),
    }),
    liveWatchPages({
      ...{ streams, recordings, videos, access, sellers, reception, assets, clock, publicUrl, platformHosts },
      hasWhep: needs.hasWhep,
      mediaOrigins,
      chat: liveChat,
      followBox,
    }),
    beaconPage({ beacons: createBeacons({ ...needs, streams, videos, viewers }) }),
    videoFilePages({ admissions, files: videoFiles, sentBytes }),
    downloadPages({ downloads, files: videoFiles, sentBytes }),
    videoWatchPages({
      ...{ admissions, videos, sellers, tokens, reception, assets, publicUrl, platformHosts, mediaOrigins },
      followBox,
    }),
    oembedPage({
      publicUrl,
      hosts: platformHosts,
      find: async (id) => (await embeddableVideo(videos, publicUrl, id)) ?? embeddableStream(streams, id),
    }),
  ];
}

/** Writes the viewers of this process while it runs. */
function countViewers(viewers: Viewers, log: Logger): Service {
  const task = { name: 'viewer counts', everyMs: VIEWER_FLUSH_MS, run: () => viewers.flush() };
  const schedule = startSchedule([task], log);
  return {
    stop: () => schedule.stop(),
    dispose: () =>
      viewers
        .flush()
        .catch((error: unknown) => log.warn({ err: error }, 'the last viewers were not written')),
  };
}
