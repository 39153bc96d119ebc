-- How many watch each stream, as each api process counts them; the stream's own number is their sum.
-- Numbers only: who watches is never stored.
create table viewer_count (
  stream_id text not null references stream (id) on delete cascade,
  node_id text not null,
  current integer not null,
  updated_at timestamptz not null,
  primary key (stream_id, node_id)
);
