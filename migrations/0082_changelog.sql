-- Releases of the interface that this platform has seen, and who has been told of them.

create table release_notice (
  version text primary key,
  -- Accounts that are younger have known nothing else.
  seen_at timestamptz not null,
  -- Workspaces are told in the order of their ids; up to this one it is done.
  last_workspace_id text not null default '',
  told_at timestamptz
);

-- Deprecated endpoints that keys of a workspace have called.
create table deprecated_use (
  workspace_id text not null references workspace (id) on delete cascade,
  -- GET /things
  endpoint text not null,
  last_used_at timestamptz not null,
  told_at timestamptz,
  primary key (workspace_id, endpoint)
);
create index deprecated_use_time on deprecated_use (last_used_at);
