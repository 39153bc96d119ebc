import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { channelIdOf } from './rules.ts';
import type { ChannelDetails } from './service.ts';

const Link = namedSchema(
  'ChannelLink',
  Type.Object({
    label: Type.String({ minLength: 1, maxLength: 50 }),
    url: Type.String({ maxLength: 2048, description: 'https or http.' }),
  }),
  { label: 'Website', url: 'https://example.com/' },
);

const Links = Type.Array(Link, { maxItems: 10 });

const profile = {
  id: IdOf('chn'),
  username: Type.String(),
  displayName: Type.String(),
  description: Nullable(Type.String()),
  avatarUrl: Nullable(Type.String()),
  bannerUrl: Nullable(Type.String()),
  links: Links,
  followerCount: Type.Integer(),
  videoCount: Type.Integer({ description: 'Number of playable PUBLIC videos.' }),
  isLive: Type.Boolean({ description: 'Whether a PUBLIC stream is live.' }),
};

const EXAMPLE = {
  id: 'chn_01kafe3n4pfx2v9yq6m8d7t5zr',
  username: 'ada',
  displayName: 'Ada Lovelace',
  description: 'Films about engines.',
  avatarUrl: null,
  bannerUrl: 'https://video.example.com/banners/bnr_01kafe3n4pfx2v9yq6m8d7t5zr.jpg',
  links: [{ label: 'Website', url: 'https://example.com/' }],
  followerCount: 1200,
  videoCount: 64,
  isLive: false,
};

const LiveStream = Type.Object({
  streamId: IdOf('str'),
  title: Type.String(),
  playbackUrl: Type.String(),
  startedAt: Nullable(Instant),
});

const ChannelTier = Type.Object({
  id: IdOf('tier'),
  name: Type.String(),
  priceCents: Type.Integer(),
  currency: Type.String(),
  interval: OneOf(VALUES.tier.interval),
});

export const PublicChannel = namedSchema(
  'PublicChannel',
  Type.Object({
    ...profile,
    liveStreams: Type.Array(LiveStream, { description: 'PUBLIC streams that are live.' }),
    tiers: Type.Array(ChannelTier, { description: 'Tiers that accept new members.' }),
    createdAt: Instant,
  }),
  { ...EXAMPLE, liveStreams: [], tiers: [], createdAt: '2026-11-20T09:00:00.000Z' },
);

export const Channel = namedSchema(
  'Channel',
  Type.Object({
    ...profile,
    url: Nullable(Type.String({ description: 'URL of the channel page; null in test mode.' })),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    ...EXAMPLE,
    url: 'https://video.example.com/@ada',
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

export const ChannelPatch = namedSchema(
  'ChannelUpdate',
  Type.Object({
    displayName: Type.Optional(
      Nullable(Type.String({ maxLength: 80, description: 'Null uses the account name.' })),
    ),
    description: Type.Optional(Nullable(Type.String({ maxLength: 5000 }))),
    links: Type.Optional(Links),
    bannerUrl: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 2048,
          description: 'Publicly routable HTTPS URL of an image; fetched once. Null removes the banner.',
        }),
      ),
    ),
  }),
  { description: 'Films about engines.', links: [{ label: 'Website', url: 'https://example.com/' }] },
);

export const ChannelVideo = namedSchema(
  'ChannelVideo',
  Type.Object({
    id: IdOf('vid'),
    title: Type.String(),
    description: Nullable(Type.String()),
    durationSec: Nullable(Type.Number()),
    thumbnailUrl: Nullable(Type.String()),
    playbackUrl: Nullable(Type.String()),
    embedUrl: Type.String(),
    watchUrl: Type.String(),
    viewCount: Type.Integer(),
    publishedAt: Nullable(Instant),
    createdAt: Instant,
  }),
  {
    id: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    title: 'A film',
    description: null,
    durationSec: 450.5,
    thumbnailUrl: null,
    playbackUrl: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/master.m3u8',
    embedUrl: 'https://video.example.com/embed/vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    watchUrl: 'https://video.example.com/watch/vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    viewCount: 1024,
    publishedAt: '2026-11-20T09:00:00.000Z',
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

export const ChannelStream = namedSchema(
  'ChannelStream',
  Type.Object({
    id: IdOf('str'),
    streamId: IdOf('str', 'Same value as `id`.'),
    title: Type.String(),
    description: Nullable(Type.String()),
    isLive: Type.Boolean(),
    playbackUrl: Type.String(),
    embedUrl: Type.String(),
    watchUrl: Type.String(),
    scheduledStartAt: Nullable(Instant),
    startedAt: Nullable(Type.String({ format: 'date-time', description: 'Start of the current broadcast.' })),
    createdAt: Instant,
  }),
  {
    id: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    title: 'Friday night live',
    description: null,
    isLive: true,
    playbackUrl: 'https://video.example.com/live/str_01kafe3n4pfx2v9yq6m8d7t5zr/master.m3u8',
    embedUrl: 'https://video.example.com/embed/str_01kafe3n4pfx2v9yq6m8d7t5zr',
    watchUrl: 'https://video.example.com/watch/str_01kafe3n4pfx2v9yq6m8d7t5zr',
    scheduledStartAt: null,
    startedAt: '2026-11-20T09:00:00.000Z',
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

export const ChannelPlaylist = namedSchema(
  'ChannelPlaylist',
  Type.Object({
    id: IdOf('pls'),
    title: Type.String(),
    description: Nullable(Type.String()),
    thumbnailUrl: Nullable(Type.String()),
    itemCount: Type.Integer({ description: 'Number of PUBLIC videos.' }),
    totalDurationSec: Type.Integer(),
    createdAt: Instant,
    updatedAt: Instant,
  }),
  {
    id: 'pls_01kafe3n4pfx2v9yq6m8d7t5zr',
    title: 'The best of 2026',
    description: null,
    thumbnailUrl: null,
    itemCount: 12,
    totalDurationSec: 5400,
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
  },
);

/** Public content of a channel besides its profile. */
export interface ChannelContent {
  liveStreams: Static<typeof LiveStream>[];
  tiers: Static<typeof ChannelTier>[];
}

/** URLs of a channel's images and its page. */
export interface ChannelLinks {
  avatarUrl(profile: Pick<ChannelDetails['profile'], 'avatar_id'>): string | null;
  bannerUrl(id: string): string;
  pageUrl(username: string): string;
}

function profileOf({ workspaceId, profile, row, standing }: ChannelDetails, links: ChannelLinks) {
  return {
    id: channelIdOf(workspaceId),
    username: profile.username,
    displayName: displayNameOf({ profile, row }),
    description: row?.description ?? null,
    avatarUrl: links.avatarUrl(profile),
    bannerUrl: row?.banner_id ? links.bannerUrl(row.banner_id) : null,
    links: row?.links ?? [],
    ...standing,
  };
}

/** Returns the displayed name. */
export function displayNameOf({ profile, row }: Pick<ChannelDetails, 'profile' | 'row'>): string {
  return row?.display_name ?? profile.name ?? profile.username;
}

export function toPublicChannel(
  channel: ChannelDetails,
  content: ChannelContent,
  links: ChannelLinks,
): Static<typeof PublicChannel> {
  const createdAt = channel.profile.created_at.toISOString();
  return { ...profileOf(channel, links), ...content, createdAt };
}

export function toChannel(channel: ChannelDetails, mode: Mode, links: ChannelLinks): Static<typeof Channel> {
  const { profile, row } = channel;
  return {
    ...profileOf(channel, links),
    url: mode === 'live' ? links.pageUrl(profile.username) : null,
    createdAt: profile.created_at.toISOString(),
    updatedAt: (row?.updated_at ?? profile.created_at).toISOString(),
    mode,
  };
}
