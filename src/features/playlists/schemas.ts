import Type, { type Static } from 'typebox';
import { Instant, Nullable, OneOf, Title } from '../../http/schema.ts';
import { MODES, type Mode } from '../../kernel/access.ts';
import { MAX_DURATION_SEC } from '../../kernel/plans.ts';
import { VALUES, type VideoStatus } from '../../platform/db/tables.generated.ts';
import type { ItemRow, ShownPlaylist } from './repository.ts';
import { MAX_ITEMS } from './rules.ts';

const Visibility = OneOf(VALUES.playlist.visibility);
const settings = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 5000 }))),
  visibility: Type.Optional(Visibility),
};

export const PlaylistIn = Type.Object({ title: Title, ...settings });
export type PlaylistIn = Static<typeof PlaylistIn>;

export const PlaylistPatch = Type.Object({
  title: Type.Optional(Title),
  ...settings,
  thumbnailVideoId: Type.Optional(
    Nullable(
      Type.String({
        description: 'A video of the playlist whose thumbnail it shows; null is the first that has one.',
      }),
    ),
  ),
});
export type PlaylistPatch = Static<typeof PlaylistPatch>;

export const Playlist = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    description: Nullable(Type.String()),
    visibility: Visibility,
    thumbnailUrl: Nullable(Type.String()),
    thumbnailVideoId: Nullable(Type.String({ description: 'The chosen one.' })),
    itemCount: Type.Integer({ description: 'Items that are not available are counted too.' }),
    totalDurationSec: Type.Integer({
      description: 'Of what its items play; deleted and failed videos play nothing.',
    }),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  },
  { $id: 'Playlist' },
);

const second = Nullable(Type.Number({ minimum: 0, maximum: MAX_DURATION_SEC }));
const itemSettings = {
  position: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_ITEMS,
      description: 'From 0; the items behind it move on by one.',
    }),
  ),
  note: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  startSec: Type.Optional(second),
  stopSec: Type.Optional(second),
};

export const PlaylistItemIn = Type.Object({ videoId: Type.String(), ...itemSettings });
export type PlaylistItemIn = Static<typeof PlaylistItemIn>;

export const PlaylistItemPatch = Type.Object(itemSettings);
export type PlaylistItemPatch = Static<typeof PlaylistItemPatch>;

export const PlaylistOrder = Type.Object({
  itemIds: Type.Array(Type.String(), { maxItems: MAX_ITEMS, description: 'All of its items, each once.' }),
  updatedAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: "The playlist's as you know it: 409 when it was changed since.",
    }),
  ),
});
export type PlaylistOrder = Static<typeof PlaylistOrder>;

/** What a playlist shows of a video that is there. */
export interface PlaylistVideo {
  title: string;
  status: VideoStatus;
  durationSec: number | null;
  thumbnailUrl: string | null;
  /** It can be played now. */
  available: boolean;
}

export const PlaylistItem = Type.Object(
  {
    id: Type.String(),
    videoId: Type.String(),
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
        available: Type.Boolean({ description: 'It can be played now.' }),
      },
      { description: 'Of a deleted video everything is null and `available` is false.' },
    ),
    addedAt: Instant,
  },
  { $id: 'PlaylistItem' },
);

const DELETED = { title: null, status: null, durationSec: null, thumbnailUrl: null, available: false };

/** Videos by id; those that were deleted are missing. */
export type KnownVideos = ReadonlyMap<string, PlaylistVideo>;

export function toPlaylist(row: ShownPlaylist, videos: KnownVideos, mode: Mode): Static<typeof Playlist> {
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
