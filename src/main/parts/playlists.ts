import type { VideoLinks } from '../../features/audience/playback/index.ts';
import {
  createPlaylists,
  type PlaylistVideo,
  playlistEvents,
  playlistRoutes,
} from '../../features/video/playlists/index.ts';
import { canBePlayed, hasVideo, toLinked, type Videos } from '../../features/video/videos/index.ts';
import { nullIfNotFound } from '../../kernel/not-found.ts';
import type { OptionalModule } from '../core.ts';

export const playlists: OptionalModule = {
  events: playlistEvents,
  build(core) {
    const { cursors, videos, videoLinks } = core;
    const playlists = createPlaylists({ ...core, hasVideo, videosOf: playlistVideos(videos, videoLinks) });
    return { routes: () => playlistRoutes({ playlists, cursors }) };
  },
};

/** Returns the video details that playlists show; deleted videos are omitted. */
export function playlistVideos(videos: Pick<Videos, 'get'>, links: Pick<VideoLinks, 'thumbnailUrl'>) {
  const find = async (workspaceId: string, id: string): Promise<[string, PlaylistVideo][]> => {
    const row = await videos.get(workspaceId, id).catch(nullIfNotFound);
    if (row === null) return [];
    const { title, status, duration_sec: durationSec } = row;
    const available = canBePlayed(row);
    const thumbnailUrl = links.thumbnailUrl(toLinked(row, available));
    return [[id, { title, status, durationSec, thumbnailUrl, available }]];
  };
  return async (workspaceId: string, ids: readonly string[]) => {
    const found = await Promise.all([...new Set(ids)].map((id) => find(workspaceId, id)));
    return new Map(found.flat());
  };
}
