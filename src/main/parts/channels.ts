import {
  bannerPages,
  channelPages,
  channelRoutes,
  createChannels,
  createContent,
} from '../../features/audience/channels/index.ts';
import { memberPath } from '../../features/commerce/members/index.ts';
import { avatarUrl, createProfiles } from '../../features/identity/accounts/index.ts';
import { listPublicPlaylists } from '../../features/video/playlists/index.ts';
import { toLinked } from '../../features/video/videos/index.ts';
import type { Mode } from '../../kernel/access.ts';
import { workspaceOf } from '../../platform/db/workspace.ts';
import type { Core, OptionalModule } from '../core.ts';
import { mediaOriginsOf } from '../media-origins.ts';
import { playlistVideos } from './playlists.ts';

export const channels: OptionalModule = {
  build(core) {
    const { config, cursors, db, standingOf } = core;
    const publicUrl = config.PUBLIC_URL;
    const links = {
      avatarUrl: (profile: { avatar_id: string | null }) => avatarUrl(profile, publicUrl),
      bannerUrl: (id: string) => `${publicUrl}/banners/${id}.jpg`,
      pageUrl: (username: string) => `${publicUrl}/@${username}`,
    };
    const channels = createChannels({
      ...core,
      profiles: createProfiles(core),
      workspaceOf: (accountId: string, mode: Mode) => workspaceOf(db, accountId, mode),
      standingOf,
      bannerUrl: links.bannerUrl,
    });
    const content = contentOf(core);
    return {
      routes: () => channelRoutes({ channels, content, links, cursors }),
      pages: async ({ assets }) => [
        bannerPages({ channels }),
        channelPages({
          ...{ channels, content, links, cursors, assets, publicUrl },
          followBox: core.followBox,
          join: (workspaceId, tierId, pageUrl) => joinBy(core, workspaceId, tierId, pageUrl),
          memberPath: (username) => memberPath({ username, mode: 'live' }),
          counters: { window: core.caps },
          mediaOrigins: await mediaOriginsOf(core.store),
        }),
      ],
    };
  },
};

/** Creates the checkout in which a page viewer pays for a tier. */
async function joinBy({ checkouts }: Core, workspaceId: string, tierId: string, pageUrl: string) {
  const addresses = { successUrl: pageUrl, cancelUrl: pageUrl };
  const caller = { workspaceId, mode: 'live' } as const;
  const { id } = await checkouts.createForTier(caller, { ...addresses, tierId }, null);
  return `/checkout/${id}`;
}

function contentOf(core: Core) {
  const { config, db, videos, streams, tiers, bareVideoLinks: links, streamLinks } = core;
  const covers = playlistVideos(videos, links);
  return createContent({
    ...{ videos, streams, links, streamLinks, toLinked },
    playlists: (workspaceId, page) => listPublicPlaylists(db, workspaceId, page),
    async thumbnails(workspaceId, ids) {
      const found = await covers(workspaceId, ids);
      return new Map([...found].map(([id, { thumbnailUrl }]) => [id, thumbnailUrl]));
    },
    openTiers: tiers.open,
    publicUrl: config.PUBLIC_URL,
  });
}
