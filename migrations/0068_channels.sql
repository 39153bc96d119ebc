-- Who follows whom, and what channels say of themselves.

create table follow (
  id text primary key,
  -- What is followed: the live channel of an account, or its test one.
  workspace_id text not null references workspace (id) on delete cascade,
  follower_id text not null references account (id) on delete cascade,
  created_at timestamptz not null
);
create unique index follow_once on follow (workspace_id, follower_id);
create index follow_follower on follow (follower_id);

-- Moved in the transaction of each follow: to count the rows takes longer the more there are.
create table follower_count (
  workspace_id text primary key references workspace (id) on delete cascade,
  followers integer not null check (followers >= 0),
  -- Counts the events about followers.
  event_sequence integer not null
);

-- A channel without a row says nothing of itself.
create table channel (
  workspace_id text primary key references workspace (id) on delete cascade,
  -- Null: the name of the account.
  display_name text,
  description text,
  links jsonb not null default '[]',
  updated_at timestamptz not null
);

-- The wide picture on top of a channel, as it is served.
create table banner (
  id text primary key,
  workspace_id text not null unique references workspace (id) on delete cascade,
  image bytea not null,
  created_at timestamptz not null
);
