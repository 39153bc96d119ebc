-- What an account is told of, in the API and by mail. Of the account, not of a workspace: both modes share it.
create table notification (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  -- The type of the event that made it.
  type text not null,
  title text not null,
  body text,
  severity text not null check (severity in ('INFO', 'WARNING', 'CRITICAL')),
  -- No foreign key: it is told of whatever became of it.
  resource_type text,
  resource_id text,
  action_url text,
  read_at timestamptz,
  created_at timestamptz not null,
  check ((resource_type is null) = (resource_id is null))
);
create index notification_account on notification (account_id, id desc);
create index notification_unread on notification (account_id) where read_at is null;
create index notification_created on notification (created_at);

-- No row means the defaults.
create table notification_preference (
  account_id text primary key references account (id) on delete cascade,
  -- A channel that is off is off for every type.
  email boolean not null,
  in_app boolean not null,
  -- The types that differ from their default, as {type: {email, inApp}}.
  types jsonb not null
);
