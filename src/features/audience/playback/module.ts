import { createSnapshots, type SnapshotSource, type Snapshots } from '../../../kernel/snapshots.ts';
import type { LiveFiles, VideoFiles } from '../../../media/contract/index.ts';
import type { UsageAggregator } from '../../insight/usage/index.ts';
import type { Recordings } from '../../live/recordings/index.ts';
import type { StreamLinks, Viewers } from '../../live/streams/index.ts';
import type { FeatureModule, Page, PageRole } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Salts, ViewerFingerprints } from '../viewer-fingerprints/index.ts';
import { type Access, anyEntitlement, createAccess, type Entitlements } from './access.service.ts';
import { beaconPage } from './beacon.pages.ts';
import { createBeacons } from './beacon.service.ts';
import type { OnBytesSent } from './egress.ts';
import { createImpressions } from './impressions.ts';
import { createPlaybackLastKnown, lastKnownFor } from './last-known.ts';
import { createStreamLinks, createVideoLinks, type VideoLinks } from './links.ts';
import { liveFilePages } from './live/files.pages.ts';
import type { StreamSnapshot } from './live/snapshot.ts';
import { embeddableStream, type LiveChat, liveWatchPages } from './live/watch.pages.ts';
import { createWatching } from './live/watchers.ts';
import type { RenderFollowBox } from './media.views.ts';
import { oembedPage } from './oembed.pages.ts';
import type { Sellers } from './paywall.ts';
import { createPlaybackSessions, type PlaybackSessions } from './playback-sessions.ts';
import { rememberEntitlements } from './remembered-entitlements.ts';
import { downloadRoutes, playbackTokenRoutes } from './routes.ts';
import { createPlaybackTokens, type PlaybackTokens } from './tokens.ts';
import { createAdmissions } from './videos/admission.service.ts';
import { downloadPages } from './videos/download.pages.ts';
import { createDownloads, type Downloads } from './videos/download.service.ts';
import { videoFilePages } from './videos/files.pages.ts';
import type { VideoSnapshot } from './videos/snapshot.ts';
import { embeddableVideo, videoWatchPages } from './videos/watch.pages.ts';

export { lastKnownFor } from './last-known.ts';
export { createLiveAdmission } from './live/admission.ts';
export { purchasableAt } from './paywall.ts';
export { tokenFingerprint } from './playback-sessions.ts';

interface PlaybackUrlDeps extends Pick<Platform, 'clock' | 'config' | 'secrets'> {
  followerEntitlements: Entitlements;
  memberEntitlements: Entitlements;
  /** Reports whether encoders can publish by WHIP now. */
  takesWhip(): boolean;
  /** Reports whether viewers can watch by WHEP now. */
  hasWhep(): boolean;
}

/** URLs of streams and videos, the tokens in them, and access control. */
interface PlaybackUrls {
  playbackTokens: PlaybackTokens;
  access: Access;
  entitlements: Entitlements;
  streamLinks: StreamLinks;
  videoLinks: VideoLinks;
  /** URLs without a token, for events. */
  bareVideoLinks: VideoLinks;
}

export function createPlaybackUrls(deps: PlaybackUrlDeps): PlaybackUrls {
  const { config, secrets, clock, followerEntitlements, memberEntitlements, takesWhip, hasWhep } = deps;
  const { PUBLIC_URL: publicUrl, RTMP_URL: rtmpUrl, RTMPS_URL } = config;
  const playbackTokens = createPlaybackTokens({ secrets, clock });
  const links = createStreamLinks(publicUrl, playbackTokens);
  const entitlements = anyEntitlement(memberEntitlements, followerEntitlements);
  const maxAgeMs = config.LIVE_WITHOUT_DATABASE_SEC * 1000;
  return {
    playbackTokens,
    access: createAccess({
      tokens: playbackTokens,
      entitlements: rememberEntitlements({ entitlements, maxAgeMs }),
    }),
    entitlements,
    streamLinks: {
      ...links,
      rtmpUrl,
      rtmpsUrl: RTMPS_URL ?? null,
      whipUrl: () => (takesWhip() ? `${publicUrl}/whip` : null),
      whepUrl: (stream) => (hasWhep() ? links.whepUrl(stream) : null),
      hasWhep,
    },
    videoLinks: createVideoLinks(publicUrl, playbackTokens),
    bareVideoLinks: createVideoLinks(publicUrl, null),
  };
}

interface PlaybackDeps
  extends Pick<
    Platform,
    | 'bus'
    | 'clock'
    | 'config'
    | 'counters'
    | 'db'
    | 'facts'
    | 'log'
    | 'metrics'
    | 'platformHosts'
    | 'secrets'
    | 'store'
  > {
  access: Access;
  arrivals: ViewerFingerprints;
  followBox: RenderFollowBox;
  hasWhep(): boolean;
  /** Reports the state of the broadcast that its media node knows; null when the node does not tell. */
  isLiveOnNode(streamId: string): Promise<boolean | null>;
  liveChat: LiveChat;
  playbackTokens: PlaybackTokens;
  recordings: Recordings;
  salts: Salts;
  sellers: Sellers;
  tally: UsageAggregator;
  liveFiles: LiveFiles;
  videoFiles: VideoFiles;
  streamSnapshots: SnapshotSource<StreamSnapshot>;
  videoSnapshots: SnapshotSource<VideoSnapshot>;
  viewers: Viewers;
  mediaOrigins(): Promise<string[]>;
}

/** Snapshots for viewers. */
interface PlaybackSnapshots {
  streams: Snapshots<StreamSnapshot>;
  videos: Snapshots<VideoSnapshot>;
  recordings: Snapshots<readonly string[]>;
}

interface PlaybackExports {
  snapshots: PlaybackSnapshots;
}

/** Builds the playback for viewers: live streams, videos, and their pages. */
export function createPlaybackModule(deps: PlaybackDeps): FeatureModule & PlaybackExports {
  const { config, playbackTokens: tokens } = deps;
  const sessions = createPlaybackSessions(deps);
  const maxAgeMs = config.LIVE_WITHOUT_DATABASE_SEC * 1000;
  const lastKnown = createPlaybackLastKnown({
    maxAgeMs,
    isLiveOnNode: deps.isLiveOnNode,
    onStaleAnswer: (kind) => deps.metrics.staleAnswer(kind),
  });
  const snapshots: PlaybackSnapshots = {
    streams: createSnapshots(deps.streamSnapshots, 'str', { lastKnown: lastKnown.streams }),
    videos: createSnapshots(deps.videoSnapshots, 'vid', { lastKnown: lastKnown.videos }),
    recordings: createSnapshots({ find: (id) => deps.recordings.videosOf(id), onChanged: () => {} }, 'ses', {
      lastKnown: lastKnownFor(maxAgeMs),
    }),
  };
  const downloads = createDownloads({
    ...deps,
    videos: snapshots.videos,
    files: deps.videoFiles,
    publicUrl: config.PUBLIC_URL,
  });
  return {
    snapshots,
    routes: () => [
      ...playbackTokenRoutes({ ...snapshots, tokens, sessions, publicUrl: config.PUBLIC_URL }),
      ...downloadRoutes({ downloads }),
    ],
    pages: (role) => playbackPages({ ...deps, sessions, downloads }, snapshots, role),
  };
}

async function playbackPages(
  deps: PlaybackDeps & { sessions: PlaybackSessions; downloads: Downloads },
  { streams, videos, recordings }: PlaybackSnapshots,
  { assets }: PageRole,
): Promise<Page[]> {
  const { config, clock, platformHosts, access, sellers, playbackTokens: tokens } = deps;
  const { arrivals, followBox, liveChat, liveFiles, tally, videoFiles, viewers, downloads } = deps;
  const publicUrl = config.PUBLIC_URL;
  const reception = createImpressions(deps);
  const admissions = createAdmissions({ videos, access, platformHosts });
  const sentBytes: OnBytesSent = {
    add: ({ workspaceId, id: subjectId }, amount) =>
      tally.add({ kind: 'EGRESS', workspaceId, subjectId, amount }),
  };
  const mediaOrigins = await deps.mediaOrigins();
  return [
    liveFilePages({
      ...{ streams, recordings, videos, access, viewers, arrivals, sentBytes, clock },
      files: liveFiles,
      watching: createWatching({ clock }),
    }),
    liveWatchPages({
      ...{ streams, recordings, videos, access, sellers, reception, assets, clock, publicUrl, platformHosts },
      hasWhep: deps.hasWhep,
      mediaOrigins,
      chat: liveChat,
      followBox,
    }),
    beaconPage({ beacons: createBeacons({ ...deps, streams, videos }) }),
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
