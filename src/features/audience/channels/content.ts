import type { Static } from 'typebox';
import type { PageRequest } from '../../../kernel/page.ts';
import type { TierRow } from '../../commerce/tiers/index.ts';
import type { StreamDetails } from '../../live/streams/index.ts';
import type { PlaylistDetails } from '../../video/playlists/index.ts';
import type { VideoDetails } from '../../video/videos/index.ts';
import type { LinkedVideo, VideoLinks } from '../playback/index.ts';
import type { ChannelContent, ChannelPlaylist, ChannelStream, ChannelVideo } from './schemas.ts';

/** Public content of a workspace. The caller must ensure that it is a live one in good standing. */
export interface Content {
  live(workspaceId: string): Promise<ChannelContent['liveStreams']>;
  /** Returns the tiers by the position that their creator set. */
  tiers(workspaceId: string): Promise<ChannelContent['tiers']>;
  videos(workspaceId: string, page: PageRequest): Promise<Static<typeof ChannelVideo>[]>;
  streams(workspaceId: string, page: PageRequest): Promise<Static<typeof ChannelStream>[]>;
  playlists(workspaceId: string, page: PageRequest): Promise<Static<typeof ChannelPlaylist>[]>;
}

interface Deps {
  videos: {
    list(
      workspaceId: string,
      filter: { status: ['READY']; visibility: ['PUBLIC']; isShown: true },
      page: PageRequest,
    ): Promise<VideoDetails[]>;
  };
  streams: {
    list(
      workspaceId: string,
      filter: { visibility: ['PUBLIC']; enabled?: true; isLive?: true },
      page: PageRequest,
    ): Promise<StreamDetails[]>;
  };
  /** Returns PUBLIC playlists with their PUBLIC items. */
  playlists(workspaceId: string, page: PageRequest): Promise<PlaylistDetails[]>;
  /** Returns the thumbnails of videos by ID. */
  thumbnails(workspaceId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string | null>>;
  openTiers(workspaceId: string): Promise<TierRow[]>;
  /** Links that grant no access. */
  links: Pick<VideoLinks, 'thumbnailUrl' | 'playbackUrl' | 'embedUrl'>;
  streamLinks: {
    playbackUrl(stream: { id: string; visibility: 'PUBLIC' }): string;
    embedUrl(id: string): string;
  };
  toLinked(row: VideoDetails, isPlayable: boolean): LinkedVideo;
  publicUrl: string;
}

const PUBLIC: { visibility: ['PUBLIC'] } = { visibility: ['PUBLIC'] };
/** Page request that exceeds the concurrent broadcasts of every plan. */
const LIVE: PageRequest = {
  fetchLimit: 100,
  limit: 100,
  order: 'desc',
  after: null,
  createdAfter: null,
  createdBefore: null,
};

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function createContent(deps: Deps): Content {
  const { videos, streams, playlists, thumbnails, openTiers, streamLinks } = deps;
  const playbackUrl = (id: string) => streamLinks.playbackUrl({ id, visibility: 'PUBLIC' });
  return {
    async live(workspaceId) {
      const rows = await streams.list(workspaceId, { ...PUBLIC, isLive: true }, LIVE);
      return rows.map(({ id, title, started_at: startedAt }) => ({
        streamId: id,
        title,
        playbackUrl: playbackUrl(id),
        startedAt: iso(startedAt),
      }));
    },
    async tiers(workspaceId) {
      const rows = await openTiers(workspaceId);
      return rows
        .toSorted((a, b) => a.position - b.position)
        .map(({ id, name, price_cents: priceCents, interval }) => ({
          ...{ id, name, priceCents, interval },
          currency: 'USD',
        }));
    },
    async videos(workspaceId, page) {
      const rows = await videos.list(workspaceId, { status: ['READY'], isShown: true, ...PUBLIC }, page);
      return rows.map((row) => toChannelVideo(deps, row));
    },
    async streams(workspaceId, page) {
      const rows = await streams.list(workspaceId, { ...PUBLIC, enabled: true }, page);
      return rows.map((row) => ({
        id: row.id,
        streamId: row.id,
        title: row.title,
        description: row.description,
        isLive: row.is_live,
        playbackUrl: playbackUrl(row.id),
        embedUrl: streamLinks.embedUrl(row.id),
        watchUrl: `${deps.publicUrl}/watch/${row.id}`,
        scheduledStartAt: iso(row.scheduled_start_at),
        startedAt: row.is_live ? iso(row.started_at) : null,
        createdAt: row.created_at.toISOString(),
      }));
    },
    async playlists(workspaceId, page) {
      const rows = await playlists(workspaceId, page);
      const covers = await thumbnails(
        workspaceId,
        rows.flatMap((row) => row.cover_video_id ?? []),
      );
      return rows.map((row) => ({
        id: row.id,
        title: row.title,
        description: row.description,
        thumbnailUrl: covers.get(row.cover_video_id ?? '') ?? null,
        itemCount: row.item_count,
        totalDurationSec: Math.round(row.total_duration_sec),
        createdAt: row.created_at.toISOString(),
        updatedAt: row.updated_at.toISOString(),
      }));
    },
  };
}

function toChannelVideo(
  { links, toLinked, publicUrl }: Pick<Deps, 'links' | 'toLinked' | 'publicUrl'>,
  row: VideoDetails,
): Static<typeof ChannelVideo> {
  const isPlayable = row.renditions.some(({ kind, status }) => kind === 'VIDEO' && status === 'READY');
  const linked = toLinked(row, isPlayable);
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    durationSec: row.duration_sec,
    thumbnailUrl: links.thumbnailUrl(linked),
    playbackUrl: links.playbackUrl(linked),
    embedUrl: links.embedUrl(linked),
    watchUrl: `${publicUrl}/watch/${row.id}`,
    viewCount: row.view_count,
    publishedAt: iso(row.published_at),
    createdAt: row.created_at.toISOString(),
  };
}
