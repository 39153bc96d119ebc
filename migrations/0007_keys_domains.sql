-- What an account tells of itself, key management, and integration domains.

alter table account
  add column bio text,
  add column locale text not null default 'en',
  add column timezone text not null default 'UTC',
  -- Sites that may show the embed player: any, or those listed.
  add column embed_mode text not null default 'OPEN' check (embed_mode in ('OPEN', 'ALLOWLIST')),
  add column embed_domains text[] not null default '{}',
  add column embed_updated_at timestamptz;

-- In the database, so that every node serves it: it is small, as it was encoded anew.
create table avatar (
  id text primary key,
  account_id text not null unique references account (id) on delete cascade,
  image bytea not null,
  created_at timestamptz not null
);

alter table api_key
  -- No foreign key: it says where a key came from, whatever became of that.
  add column created_by_key_id text,
  add column last_used_ip text,
  -- Number of the newest event about this key.
  add column event_sequence integer not null default 0,
  add column expiry_announced_at timestamptz;
create index api_key_account on api_key (account_id, id);
create index api_key_expiry on api_key (expires_at)
  where expires_at is not null and revoked_at is null and expiry_announced_at is null;

-- Secrets that a rotation replaced: good until their time, and known as retired afterwards.
create table api_key_retired_secret (
  hash bytea primary key,
  key_id text not null references api_key (id) on delete cascade,
  expires_at timestamptz not null
);
create index api_key_retired_secret_key on api_key_retired_secret (key_id);

create table integration_domain (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  -- Punycode, lower case.
  domain text not null,
  include_subdomains boolean not null,
  status text not null check (status in ('PENDING', 'VERIFIED', 'FAILED', 'LAPSED')),
  -- The proof that was asked for, then the one that was found.
  method text check (method in ('DNS_TXT', 'WELL_KNOWN')),
  token text not null,
  txt_verified boolean not null default false,
  -- When the wait for a proof began, and how often it was looked for on its own since.
  pending_since timestamptz,
  checks integer not null default 0,
  -- The first of the failures in a row of a verified domain.
  failing_since timestamptz,
  last_checked_at timestamptz,
  last_error text,
  verified_at timestamptz,
  -- Null where nothing is checked: domains of test workspaces, and failed ones.
  next_check_at timestamptz,
  event_sequence integer not null default 0,
  created_at timestamptz not null,
  unique (workspace_id, domain)
);
create index integration_domain_due on integration_domain (next_check_at) where next_check_at is not null;
