-- Who has come to a broadcast and who has left, and samples of how many are there.

-- Was there when the stream was counted last.
alter table stream_viewer add column is_counted boolean not null default false;

-- When it was noted last how many are there, and how many they were.
alter table watched_stream add column sampled_at timestamptz;
alter table watched_stream add column sampled_viewers integer;
