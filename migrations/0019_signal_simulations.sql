-- Streams of test workspaces whose signal the platform makes itself.

create table signal_simulation (
  stream_id text primary key references stream (id) on delete cascade,
  workspace_id text not null references workspace (id) on delete cascade,
  until timestamptz not null,
  -- The media node that makes it, and when it last said so.
  node_id text,
  seen_at timestamptz
);
create index signal_simulation_workspace on signal_simulation (workspace_id);
