-- Events, webhooks, deliveries, the request log, notifications, email, support and release notices.

create sequence event_seq;

-- One row per event, written in the transaction of the state change. The body is stored once, so retries and replays
-- send the same bytes. Day partitions are dropped after 30 days; the default partition catches events whose partition
-- is missing. No foreign key: it would lock the workspace's row for each event.
create table event (
  id uuid not null,
  workspace_id text not null,
  type text not null,
  created_at timestamptz not null,
  -- Event streams return rows that the current snapshot sees and the previous one did not, so late commits are not
  -- missed; seq orders them.
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null default nextval('event_seq'),
  body text not null,
  primary key (id, created_at)
) partition by range (created_at);
create index event_workspace on event (workspace_id, created_at desc, id desc);
create index event_tail on event (workspace_id, xid, seq);
create index event_type on event (workspace_id, type, created_at desc, id desc);
create table event_default partition of event default;

-- There are few types, so the statistics of a partition must not make a rare one look unique.
alter table event_default alter column type set (n_distinct = 150);

create table webhook (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  url text not null,
  -- Types and `prefix.*` patterns; empty means every type.
  events text[] not null default '{}',
  is_active boolean not null default true,
  description text not null default '',
  -- Encrypted: signing needs the plain secret.
  secret bytea not null,
  secret_rotated_at timestamptz,
  -- Statistics, updated by the statement that finishes deliveries.
  total_deliveries bigint not null default 0,
  success_count bigint not null default 0,
  failure_count bigint not null default 0,
  consecutive_failures integer not null default 0,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_status integer,
  latency_total_ms bigint not null default 0,
  latency_count bigint not null default 0,
  -- First failure since the last success, and when the workspace's other webhooks were notified.
  failing_since timestamptz,
  failing_notified_at timestamptz,
  -- Sequence number of the last event about the webhook.
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
) with (fillfactor = 80);
create index webhook_workspace on webhook (workspace_id, id desc);
create index webhook_failing on webhook (failing_since) where failing_since is not null;
create index webhook_inactive on webhook (id) where not is_active;

-- Pending deliveries. `next_at` is schedule and lease in one: a claim moves it past the lease. No foreign keys: an
-- event must not fail because its webhook is being deleted; the claim deletes such jobs.
create table delivery_job (
  id bigint generated always as identity primary key,
  workspace_id text not null,
  webhook_id text not null,
  event_id uuid not null,
  -- Identifies the partition of the event.
  event_created_at timestamptz not null,
  trigger text not null default 'EVENT' check (trigger in ('EVENT', 'TEST', 'REPLAY', 'RECOVER')),
  -- Row of the log that a replay repeats.
  replay_of text,
  next_at timestamptz not null default clock_timestamp(),
  -- Finished and logged attempts; an interrupted one does not count.
  attempt smallint not null default 0,
  -- Changes with each claim, so that a worker that lost its lease cannot finish the job. Odd while claimed.
  lease integer not null default 0
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
create index delivery_job_due on delivery_job (webhook_id, next_at);
create index delivery_job_webhook on delivery_job (webhook_id, id);

-- One row per attempt, without the payload. Indexes name the collation of the ID, so that a list ordered by it does
-- not use the primary key (docs/decisions/lists-and-ids.md#logs).
create table delivery_log (
  id text not null,
  workspace_id text not null,
  webhook_id text not null,
  event_id uuid not null,
  event_type text not null,
  trigger text not null check (trigger in ('EVENT', 'TEST', 'REPLAY', 'RECOVER')),
  attempt smallint not null,
  -- FAILED is followed by another attempt except for a test or replay, EXHAUSTED was the last scheduled attempt,
  -- CANCELED was not sent.
  status text not null check (status in ('SUCCESS', 'FAILED', 'EXHAUSTED', 'CANCELED')),
  response_status integer,
  response_body text,
  latency_ms integer,
  error_message text,
  next_attempt_at timestamptz,
  replay_of text,
  created_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
create index delivery_log_event on delivery_log (event_id);
create index delivery_log_webhook on delivery_log (webhook_id, id collate "C" desc);
create index delivery_log_status on delivery_log (webhook_id, status, id collate "C" desc);
create index delivery_log_type on delivery_log (webhook_id, event_type, status, id collate "C" desc);
-- Manual deliveries, which are rare.
create index delivery_log_trigger on delivery_log (webhook_id, trigger, status, id collate "C" desc)
  where trigger <> 'EVENT';
create table delivery_log_default partition of delivery_log default;

-- Requests of each workspace, in day partitions that are dropped after 7 days. No foreign key: it would lock the
-- workspace's row for each batch.
create table request_log (
  id text not null,
  workspace_id text not null,
  -- May come from the client, so it is not unique.
  request_id uuid not null,
  -- Null for a dashboard session.
  key_id text,
  method text not null,
  -- As requested, without query and secrets.
  path text not null,
  status smallint not null,
  -- `error.code` of an error response.
  code text,
  ms double precision not null,
  -- Time of the response.
  created_at timestamptz not null,
  primary key (workspace_id, id, created_at)
) partition by range (created_at);
create index request_log_request on request_log (request_id);
-- Errors are few among many.
create index request_log_errors on request_log (workspace_id, id) where status >= 400;
create index request_log_status on request_log (workspace_id, status, id);
create index request_log_failures on request_log (workspace_id, id) where status >= 500;
create index request_log_key on request_log (workspace_id, key_id, id);
create index request_log_path on request_log (workspace_id, path text_pattern_ops, id);
create table request_log_default partition of request_log default;

-- Notifications of an account, not of a workspace: both modes share them.
create table notification (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  -- Type of the event.
  type text not null,
  title text not null,
  body text,
  severity text not null check (severity in ('INFO', 'WARNING', 'CRITICAL')),
  -- No foreign key: the notification stays when the resource is deleted.
  resource_type text,
  resource_id text,
  action_url text,
  -- Read by the owner; notification_read has the team's members.
  read_at timestamptz,
  created_at timestamptz not null,
  check ((resource_type is null) = (resource_id is null))
);
create index notification_account on notification (account_id, id desc);
create index notification_created on notification (created_at);
create index notification_type on notification (account_id, type, id collate "C" desc);
create index notification_unread on notification (account_id, id collate "C" desc) where read_at is null;
create index notification_is_read on notification (account_id, id collate "C" desc) where read_at is not null;

-- Notifications that members of the team have read.
create table notification_read (
  notification_id text not null references notification (id) on delete cascade,
  user_id text not null references account (id) on delete cascade,
  read_at timestamptz not null,
  primary key (notification_id, user_id)
);
create index notification_read_user on notification_read (user_id);

-- No row means the defaults.
create table notification_preference (
  account_id text primary key references account (id) on delete cascade,
  -- A channel that is off is off for every type.
  email boolean not null,
  in_app boolean not null,
  -- Types that differ from their default, as {type: {email, inApp}}.
  types jsonb not null
);

-- Outgoing email, written in the transaction of the change that causes it.
create table mail (
  id text primary key,
  kind text not null,
  recipient text not null,
  subject text not null,
  -- Encrypted, because the text has links that sign in; null once an SMTP server has accepted the email.
  body bytea,
  -- Calendar entry (RFC 5545), encrypted like the body.
  calendar bytea,
  -- Link that unsubscribes from the list; encrypted, because it acts for the recipient.
  unsubscribe_url bytea,
  status text not null default 'QUEUED' check (status in ('QUEUED', 'SENT', 'KEPT', 'FAILED')),
  attempts smallint not null default 0,
  last_error text,
  next_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index mail_due on mail (next_at) where status = 'QUEUED';
create index mail_created on mail (created_at);

-- Requests of an account to the operator, and reports from public pages, which have no account and are visible only
-- to the operator.
create table support_ticket (
  id text primary key,
  account_id text references account (id) on delete cascade,
  -- Workspace where it was opened, whose webhooks receive its events.
  workspace_id text references workspace (id) on delete cascade,
  -- Number within the account; reports are numbered by report_number.
  number integer not null check (number > 0),
  subject text not null,
  category text not null check (category in ('BILLING', 'TECHNICAL', 'ACCOUNT', 'ABUSE', 'OTHER')),
  priority text not null check (priority in ('LOW', 'NORMAL', 'HIGH')),
  status text not null check (status in ('OPEN', 'PENDING', 'RESOLVED', 'CLOSED')),
  -- Recipient of the operator's answer to a report.
  reporter_email text,
  reported_type text check (reported_type in ('VIDEO', 'STREAM', 'CHANNEL')),
  -- ID, or the username of a channel.
  reported_id text,
  -- Request that the ticket is about.
  request_id text,
  event_sequence integer not null default 0,
  last_message_at timestamptz not null,
  resolved_at timestamptz,
  created_at timestamptz not null,
  unique (account_id, number),
  check ((status = 'RESOLVED') = (resolved_at is not null)),
  check ((account_id is null) = (workspace_id is null)),
  check ((account_id is null) = (reported_type is not null)),
  check ((reported_type is null) = (reported_id is null)),
  check (reporter_email is null or account_id is null)
);
create index support_ticket_account on support_ticket (account_id, id desc);
create index support_ticket_status on support_ticket (status, id);
create index support_ticket_resolved on support_ticket (resolved_at) where resolved_at is not null;
create index support_ticket_state on support_ticket (account_id, category, status, id collate "C" desc);
create index support_ticket_all on support_ticket (category, status, id collate "C" desc);

create sequence report_number;

create table support_message (
  id text primary key,
  ticket_id text not null references support_ticket (id) on delete cascade,
  author text not null check (author in ('PARTNER', 'STAFF')),
  message text not null,
  created_at timestamptz not null
);
create index support_message_ticket on support_message (ticket_id, id);

-- Releases of the API that this platform has seen, and the progress of their notifications.
create table release_notice (
  version text primary key,
  -- Accounts created later are not notified.
  detected_at timestamptz not null,
  -- Workspaces are notified in the order of their IDs; this is the last one that was.
  last_workspace_id text not null default '',
  notified_at timestamptz
);

-- Deprecated endpoints called by keys of a workspace.
create table deprecated_endpoint_usage (
  workspace_id text not null references workspace (id) on delete cascade,
  -- Method and path: `GET /things`.
  endpoint text not null,
  last_used_at timestamptz not null,
  notified_at timestamptz,
  primary key (workspace_id, endpoint)
);
create index deprecated_endpoint_usage_time on deprecated_endpoint_usage (last_used_at);
