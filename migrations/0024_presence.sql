-- Who watches a broadcast now, and who has, as hashes that say nothing without the salt of their day.

-- Shared by all nodes, encrypted, and gone after the next day: then nothing can be told of the hashes any more.
create table viewer_salt (
  -- In UTC, 2026-11-20.
  day text primary key,
  salt_encrypted bytea not null
);

-- No reference to the stream: each would lock its row. What is left over is cleaned up.
create table stream_viewer (
  stream_id text not null,
  -- Of address, browser and token, for this session alone.
  viewer bytea not null,
  -- Null for a broadcast that has had no signal yet.
  session_id text,
  salt_day text not null,
  -- Its player tells by itself, so its requests for playlists do not count.
  has_beacon boolean not null,
  present_until timestamptz not null,
  primary key (stream_id, viewer)
) with (fillfactor = 80);

-- Broadcasts that somebody has watched: their viewers are counted until they end.
create table watched_stream (
  stream_id text primary key references stream (id) on delete cascade
);

drop table viewer_count;
