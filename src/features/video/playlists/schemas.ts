import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf, Title } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { MAX_DURATION_SEC } from '../../../kernel/plans.ts';
import { VALUES, type VideoStatus } from '../../../platform/db/tables.generated.ts';
import type { ItemRow, PlaylistDetails } from './repository.ts';
import { MAX_ITEMS } from './rules.ts';

const Visibility = namedSchema('PlaylistVisibility', OneOf(VALUES.playlist.visibility));
const settings = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 5000 }))),
  visibility: Type.Optional(Visibility),
};

export const PlaylistIn = namedSchema('PlaylistCreate', Type.Object({ title: Title, ...settings }), {
  title: 'The best of 2026',
  visibility: 'PUBLIC',
});
export type PlaylistIn = Static<typeof PlaylistIn>;

export const PlaylistPatch = namedSchema(
  'PlaylistUpdate',
  Type.Object({
    title: Type.Optional(Title),
    ...settings,
    thumbnailVideoId: Type.Optional(
      Nullable(
        Type.String({
          description:
            'Video of the playlist whose thumbnail is used; null uses the first video with a thumbnail.',
        }),
      ),
    ),
  }),
  { title: 'The best of 2026' },
);
export type PlaylistPatch = Static<typeof PlaylistPatch>;

export const Playlist = namedSchema(
  'Playlist',
  Type.Object({
    id: IdOf('pls'),
    title: Type.String(),
    description: Nullable(Type.String()),
    visibility: Visibility,
    thumbnailUrl: Nullable(Type.String()),
    thumbnailVideoId: Nullable(Type.String({ description: 'ID of the video whose thumbnail is used.' })),
    itemCount: Type.Integer({ description: 'Number of items, including unavailable ones.' }),
    totalDurationSec: Type.Integer({
      description: 'Total playback duration of the items; deleted and failed videos do not count.',
    }),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'pls_01kafe3n4pfx2v9yq6m8d7t5zr',
    title: 'The best of 2026',
    description: null,
    visibility: 'PUBLIC',
    thumbnailUrl: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/r1a1/img/poster.jpg',
    thumbnailVideoId: null,
    itemCount: 12,
    totalDurationSec: 5400,
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

const second = Nullable(Type.Number({ minimum: 0, maximum: MAX_DURATION_SEC }));
const itemSettings = {
  position: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_ITEMS,
      description: 'Zero-based position; later items shift by one.',
    }),
  ),
  note: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  startSec: Type.Optional({ ...second, description: 'Playback start.' }),
  stopSec: Type.Optional({ ...second, description: 'Playback end, after `startSec`.' }),
};

export const PlaylistItemIn = namedSchema(
  'PlaylistItemCreate',
  Type.Object({ videoId: Type.String(), ...itemSettings }),
  { videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr', position: 0 },
);
export type PlaylistItemIn = Static<typeof PlaylistItemIn>;

export const PlaylistItemPatch = namedSchema('PlaylistItemUpdate', Type.Object(itemSettings), {
  position: 3,
  note: 'Encore',
});
export type PlaylistItemPatch = Static<typeof PlaylistItemPatch>;

export const PlaylistOrder = namedSchema(
  'PlaylistOrder',
  Type.Object({
    itemIds: Type.Array(Type.String(), {
      maxItems: MAX_ITEMS,
      description: 'IDs of all items, each exactly once.',
    }),
    updatedAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          '`updatedAt` of the playlist you are editing; returns 409 if the playlist has changed since.',
      }),
    ),
  }),
  { itemIds: ['pli_01kafe3n4pfx2v9yq6m8d7t5zr'] },
);
export type PlaylistOrder = Static<typeof PlaylistOrder>;

/** Details that a playlist shows of an available video. */
export interface PlaylistVideo {
  title: string;
  status: VideoStatus;
  durationSec: number | null;
  thumbnailUrl: string | null;
  /** Whether it can be played now. */
  available: boolean;
}

export const PlaylistItem = namedSchema(
  'PlaylistItem',
  Type.Object({
    id: IdOf('pli'),
    videoId: IdOf('vid'),
    position: Type.Integer(),
    note: Nullable(Type.String()),
    startSec: Nullable(Type.Number()),
    stopSec: Nullable(Type.Number()),
    video: Type.Object(
      {
        title: Nullable(Type.String()),
        status: Nullable(OneOf(VALUES.video.status)),
        durationSec: Nullable(Type.Number()),
        thumbnailUrl: Nullable(Type.String()),
        available: Type.Boolean({ description: 'Whether it can be played.' }),
      },
      { description: 'For a deleted video, all fields are null and `available` is false.' },
    ),
    addedAt: Instant,
  }),
  {
    id: 'pli_01kafe3n4pfx2v9yq6m8d7t5zr',
    videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    position: 0,
    note: null,
    startSec: null,
    stopSec: null,
    video: {
      title: 'A film',
      status: 'READY',
      durationSec: 450.5,
      thumbnailUrl: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/r1a1/img/poster.jpg',
      available: true,
    },
    addedAt: '2026-11-20T09:00:00.000Z',
  },
);

const DELETED = { title: null, status: null, durationSec: null, thumbnailUrl: null, available: false };

/** Videos by id; those that were deleted are missing. */
export type KnownVideos = ReadonlyMap<string, PlaylistVideo>;

export function toPlaylist(row: PlaylistDetails, videos: KnownVideos, mode: Mode): Static<typeof Playlist> {
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    thumbnailUrl: videos.get(row.cover_video_id ?? '')?.thumbnailUrl ?? null,
    thumbnailVideoId: row.thumbnail_video_id,
    itemCount: row.item_count,
    totalDurationSec: Math.round(row.total_duration_sec),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    mode,
  };
}

export function toItem(row: ItemRow, videos: KnownVideos): Static<typeof PlaylistItem> {
  const { title, status, durationSec, thumbnailUrl, available } = videos.get(row.video_id) ?? DELETED;
  return {
    id: row.id,
    videoId: row.video_id,
    position: row.position,
    note: row.note,
    startSec: row.start_sec,
    stopSec: row.stop_sec,
    video: { title, status, durationSec, thumbnailUrl, available },
    addedAt: row.added_at.toISOString(),
  };
}
