import { nullIfNotFound } from '../../../kernel/not-found.ts';
import type { VideoLinks } from '../../audience/playback/index.ts';
import type { Declarations, FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { canBePlayed, hasVideo, toLinked, Videos } from '../videos/index.ts';
import { playlistEvents } from './events.ts';
import { playlistRoutes } from './routes.ts';
import type { PlaylistVideo } from './schemas.ts';
import { createPlaylists, type PlaylistVideos } from './service.ts';

export { listPublicPlaylists } from './repository.ts';

interface PlaylistsDeps extends Pick<Platform, 'clock' | 'cursors' | 'db' | 'events'> {
  bareVideoLinks: VideoLinks;
  videoLinks: VideoLinks;
  videos: Videos;
  canBePlayed: typeof canBePlayed;
  hasVideo: typeof hasVideo;
  toLinked: typeof toLinked;
}

export const playlistsDeclarations: Declarations = { events: playlistEvents };

export function createPlaylistsModule(
  deps: PlaylistsDeps,
): FeatureModule & { playlistVideos: PlaylistVideos } {
  const { bareVideoLinks, cursors, videoLinks } = deps;
  const playlists = createPlaylists({ ...deps, videosOf: createPlaylistVideos(deps, videoLinks) });
  return {
    playlistVideos: createPlaylistVideos(deps, bareVideoLinks),
    routes: () => playlistRoutes({ playlists, cursors }),
  };
}

/** Creates the reader of the video details that playlists show; deleted videos are omitted. */
function createPlaylistVideos(
  { canBePlayed, toLinked, videos }: Pick<PlaylistsDeps, 'canBePlayed' | 'toLinked' | 'videos'>,
  links: Pick<VideoLinks, 'thumbnailUrl'>,
): PlaylistVideos {
  const find = async (workspaceId: string, id: string): Promise<[string, PlaylistVideo][]> => {
    const row = await videos.get(workspaceId, id).catch(nullIfNotFound);
    if (row === null) return [];
    const { title, status, duration_sec: durationSec } = row;
    const available = canBePlayed(row);
    const thumbnailUrl = links.thumbnailUrl(toLinked(row, available));
    return [[id, { title, status, durationSec, thumbnailUrl, available }]];
  };
  return async (workspaceId, ids) => {
    const found = await Promise.all([...new Set(ids)].map((id) => find(workspaceId, id)));
    return new Map(found.flat());
  };
}
