-- Accounts, their live and test workspaces (the tenant), and API keys.

create table account (
  id text primary key,
  email text not null,
  password_hash text not null,
  name text,
  username text not null,
  role text not null default 'USER' check (role in ('USER', 'ADMIN')),
  plan text not null default 'VIP' check (plan in ('FREE', 'STAR', 'PRO', 'VIP')),
  email_verified_at timestamptz,
  suspended_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index account_email on account (email);
create unique index account_username on account (username);

create table workspace (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  mode text not null check (mode in ('live', 'test')),
  created_at timestamptz not null default now(),
  unique (account_id, mode)
);

create table api_key (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  account_id text not null references account (id) on delete cascade,
  name text not null,
  -- SHA-256 of the key; the key itself is shown once and never stored.
  hash bytea not null,
  prefix text not null,
  last4 text not null,
  scope text not null check (scope in ('READ_ONLY', 'STANDARD', 'FULL_ACCESS')),
  permissions text[] not null default '{}',
  ip_allowlist text[] not null default '{}',
  domain_allowlist text[] not null default '{}',
  rate_limit_per_minute integer not null check (rate_limit_per_minute > 0),
  daily_quota integer check (daily_quota > 0),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index api_key_hash on api_key (hash);
create index api_key_workspace on api_key (workspace_id, id);
