-- Answered requests of each workspace, for whoever builds on the API.

-- Day partitions, dropped after 7 days; the default one is a net for the case that nobody made tomorrow's. No
-- foreign key: it would lock the workspace's row for every batch. `request_id` may be the sender's, so it is not
-- unique.
create table request_log (
  id text not null,
  workspace_id text not null,
  request_id uuid not null,
  -- Null for a request of a dashboard session.
  key_id text,
  method text not null,
  -- As it was sent, without its query and without secrets.
  path text not null,
  status smallint not null,
  -- `error.code` of a refusal.
  code text,
  ms double precision not null,
  -- When it was answered.
  created_at timestamptz not null,
  primary key (workspace_id, id, created_at)
) partition by range (created_at);
create index request_log_request on request_log (request_id);
-- Errors are few among many.
create index request_log_errors on request_log (workspace_id, id) where status >= 400;
create table request_log_default partition of request_log default;
