-- Channels and the list of subscribers.

-- A channel without a row has the defaults.
create table channel (
  workspace_id text primary key references workspace (id) on delete cascade,
  -- Null: the name of the account.
  display_name text,
  description text,
  links jsonb not null default '[]',
  updated_at timestamptz not null
);

-- Wide image of a channel, as it is served.
create table banner (
  id text primary key,
  workspace_id text not null unique references workspace (id) on delete cascade,
  image bytea not null,
  created_at timestamptz not null
);

create table subscriber (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  email text not null,
  name text,
  status text not null check (status in ('PENDING', 'CONFIRMED', 'UNSUBSCRIBED')),
  -- Origin, as stated by the partner.
  source text not null,
  -- Time of consent, as stated by the partner.
  consent_at timestamptz,
  -- Incremented when a confirmation is requested again, which invalidates earlier links.
  confirmation_round integer not null default 1 check (confirmation_round > 0),
  event_sequence integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index subscriber_email on subscriber (workspace_id, email);
create index subscriber_workspace on subscriber (workspace_id, id desc);
create index subscriber_status on subscriber (workspace_id, status, id collate "C" desc);
-- Searches by trigrams and single letters (docs/decisions/lists-and-ids.md#searches).
create index subscriber_text_search on subscriber using gin
  (workspace_id, (email || ' ' || coalesce(name, '')) gin_trgm_ops,
    string_to_array(lower(email || ' ' || coalesce(name, '')), null))
  with (gin_pending_list_limit = 64);

-- Data of an address that outlives its row: the last confirmation email, and that it has unsubscribed.
create table subscriber_address (
  workspace_id text not null references workspace (id) on delete cascade,
  -- Keyed hash.
  email_hash bytea not null,
  confirmation_sent_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (workspace_id, email_hash)
);
create index subscriber_address_confirmation_sent on subscriber_address (confirmation_sent_at)
  where unsubscribed_at is null;
