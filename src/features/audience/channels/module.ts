import type { Mode } from '../../../kernel/access.ts';
import { workspaceOf } from '../../../platform/db/workspace.ts';
import type { Checkouts } from '../../commerce/checkout/index.ts';
import type { memberPath } from '../../commerce/members/index.ts';
import type { Tiers } from '../../commerce/tiers/index.ts';
import type { avatarUrl, Profiles } from '../../identity/accounts/index.ts';
import type { FollowState } from '../../identity/users/index.ts';
import type { StreamLinks, Streams } from '../../live/streams/index.ts';
import type { FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { listPublicPlaylists, PlaylistVideos } from '../../video/playlists/index.ts';
import type { toLinked, Videos } from '../../video/videos/index.ts';
import type { RenderFollowBox, VideoLinks } from '../playback/index.ts';
import { bannerPages } from './banner.pages.ts';
import { channelPages } from './channel.pages.ts';
import { createContent } from './content.ts';
import { channelRoutes } from './routes.ts';
import { createChannels } from './service.ts';

export { findChannel } from './repository.ts';
export { displayNameOf } from './schemas.ts';

interface ChannelsDeps
  extends Pick<Platform, 'caps' | 'clock' | 'config' | 'cursors' | 'db' | 'fetcher' | 'images' | 'store'> {
  bareVideoLinks: VideoLinks;
  checkouts: Checkouts;
  followBox: RenderFollowBox;
  followStateOf(workspaceId: string): Promise<FollowState>;
  streamLinks: StreamLinks;
  streams: Streams;
  tiers: Tiers;
  videos: Videos;
  memberPath: typeof memberPath;
  avatarUrl: typeof avatarUrl;
  profiles: Profiles;
  listPublicPlaylists: typeof listPublicPlaylists;
  /** Reads the video details of playlists. */
  playlistVideos: PlaylistVideos;
  mediaOrigins(): Promise<string[]>;
  toLinked: typeof toLinked;
}

export function createChannelsModule(deps: ChannelsDeps): FeatureModule {
  const { memberPath, avatarUrl } = deps;
  const { config, cursors, db } = deps;
  const publicUrl = config.PUBLIC_URL;
  const links = {
    avatarUrl: (profile: { avatar_id: string | null }) => avatarUrl(profile, publicUrl),
    bannerUrl: (id: string) => `${publicUrl}/banners/${id}.jpg`,
    pageUrl: (username: string) => `${publicUrl}/@${username}`,
  };
  const channels = createChannels({
    ...deps,
    workspaceOf: (accountId: string, mode: Mode) => workspaceOf(db, accountId, mode),
    bannerUrl: links.bannerUrl,
  });
  const content = contentOf(deps);
  return {
    routes: () => channelRoutes({ channels, content, links, cursors }),
    pages: async ({ assets }) => [
      bannerPages({ channels }),
      channelPages({
        ...{ channels, content, links, cursors, assets, publicUrl },
        followBox: deps.followBox,
        join: (workspaceId, tierId, pageUrl) => joinBy(deps, workspaceId, tierId, pageUrl),
        memberPath: (username) => memberPath({ username, mode: 'live' }),
        counters: { window: deps.caps },
        mediaOrigins: await deps.mediaOrigins(),
      }),
    ],
  };
}

/** Creates the checkout in which a page viewer pays for a tier. */
async function joinBy({ checkouts }: ChannelsDeps, workspaceId: string, tierId: string, pageUrl: string) {
  const addresses = { successUrl: pageUrl, cancelUrl: pageUrl };
  const caller = { workspaceId, mode: 'live' } as const;
  const { id } = await checkouts.createForTier(caller, { ...addresses, tierId }, null);
  return `/checkout/${id}`;
}

function contentOf(deps: ChannelsDeps) {
  const { config, db, videos, streams, tiers, bareVideoLinks: links, streamLinks } = deps;
  return createContent({
    ...{ videos, streams, links, streamLinks, toLinked: deps.toLinked },
    playlists: (workspaceId, page) => deps.listPublicPlaylists(db, workspaceId, page),
    async thumbnails(workspaceId, ids) {
      const found = await deps.playlistVideos(workspaceId, ids);
      return new Map([...found].map(([id, { thumbnailUrl }]) => [id, thumbnailUrl]));
    },
    openTiers: tiers.open,
    publicUrl: config.PUBLIC_URL,
  });
}
