-- Where each media node gives the live windows of its streams to the nodes that show them to viewers.
create table media_node (
  -- As in ingest_session.
  id text primary key,
  url text not null,
  -- When the node last said so.
  seen_at timestamptz not null
);

-- The node that a stream is on, or was on last: what is open comes first.
create index ingest_session_stream on ingest_session (stream_id, ended_at desc);
