-- Playlists and their items, in an order that has no gaps.

create table playlist (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  title text not null,
  description text,
  visibility text not null check (visibility in ('PUBLIC', 'UNLISTED', 'PRIVATE')),
  -- The video whose thumbnail was chosen; counts while it is an item.
  thumbnail_video_id text references video (id) on delete set null,
  event_sequence integer not null default 0,
  created_at timestamptz not null default now(),
  -- Grows with every change of the playlist or its items.
  updated_at timestamptz not null default now()
);
create index playlist_workspace on playlist (workspace_id, id desc);
create index playlist_thumbnail on playlist (thumbnail_video_id) where thumbnail_video_id is not null;

create table playlist_item (
  id text primary key,
  playlist_id text not null references playlist (id) on delete cascade,
  video_id text not null references video (id) on delete cascade,
  -- 0 to n - 1.
  position integer not null check (position >= 0),
  note text,
  start_sec double precision,
  stop_sec double precision,
  added_at timestamptz not null default now(),
  unique (playlist_id, position) deferrable initially deferred
);
create index playlist_item_video on playlist_item (video_id);
