-- Accounts, workspaces (the tenant), API keys, sign-in, teams, integration domains and privacy.

create table account (
  id text primary key,
  email text not null,
  password_hash text not null,
  name text,
  username text not null,
  bio text,
  locale text not null default 'en',
  timezone text not null default 'UTC',
  role text not null default 'USER' check (role in ('USER', 'ADMIN')),
  plan text not null default 'VIP' check (plan in ('FREE', 'STAR', 'PRO', 'VIP')),
  -- User tokens and sessions contain it; incrementing it signs the account out everywhere.
  token_epoch integer not null default 0,
  -- Sites that may embed the player: all, or those of embed_domains.
  embed_mode text not null default 'OPEN' check (embed_mode in ('OPEN', 'ALLOWLIST')),
  embed_domains text[] not null default '{}',
  embed_updated_at timestamptz,
  -- Terms that were shown at the registration in the dashboard.
  terms_url text,
  terms_accepted_at timestamptz,
  email_verified_at timestamptz,
  suspended_at timestamptz,
  created_at timestamptz not null default now(),
  constraint account_terms_check check ((terms_url is null) = (terms_accepted_at is null))
);
create unique index account_email on account (email);
create unique index account_username on account (username);

create table workspace (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  mode text not null check (mode in ('live', 'test')),
  -- Identifies the calendar in constraints over ranges, where text would need an extension.
  calendar_number bigint generated always as identity unique,
  storage_bytes bigint not null default 0,
  created_at timestamptz not null default now(),
  unique (account_id, mode)
);

-- In the database, so that every node serves it. It is small, because it was encoded again.
create table avatar (
  id text primary key,
  account_id text not null unique references account (id) on delete cascade,
  image bytea not null,
  created_at timestamptz not null
);

create table api_key (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  account_id text not null references account (id) on delete cascade,
  name text not null,
  -- SHA-256 of the key, which is shown once and never stored.
  hash bytea not null,
  prefix text not null,
  last4 text not null,
  scope text not null check (scope in ('READ_ONLY', 'STANDARD', 'FULL_ACCESS')),
  permissions text[] not null default '{}',
  ip_allowlist text[] not null default '{}',
  domain_allowlist text[] not null default '{}',
  rate_limit_per_minute integer not null check (rate_limit_per_minute > 0),
  daily_quota integer check (daily_quota > 0),
  -- Member who created the key, which acts within the member's role; null for the owner. No foreign key: without its
  -- member a key must end and not become the owner's.
  created_by text,
  -- No foreign key: it stays when the other key is deleted.
  created_by_key_id text,
  expires_at timestamptz,
  expiry_notified_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  last_used_ip text,
  -- Sequence number of the last event about the key.
  event_sequence integer not null default 0,
  created_at timestamptz not null default now()
);
create unique index api_key_hash on api_key (hash);
create index api_key_account on api_key (account_id, id);
create index api_key_expiry on api_key (expires_at)
  where expires_at is not null and revoked_at is null and expiry_notified_at is null;
create index api_key_created_by on api_key (created_by) where created_by is not null;
create index api_key_workspace on api_key (workspace_id, id collate "C" desc);
create index api_key_usable on api_key (workspace_id, id collate "C" desc) where revoked_at is null;
create index api_key_ended on api_key (workspace_id, id collate "C" desc)
  where revoked_at is not null or expires_at is not null;

-- Secrets replaced by a rotation: valid until they expire, and recognized as retired afterwards.
create table api_key_retired_secret (
  hash bytea primary key,
  key_id text not null references api_key (id) on delete cascade,
  -- As api_key.created_by, of the member who created this secret.
  created_by text,
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
  -- Requested proof, later the proof that was found.
  method text check (method in ('DNS_TXT', 'WELL_KNOWN')),
  token text not null,
  txt_verified boolean not null default false,
  -- Start of the wait for a proof, and the number of periodic checks since.
  pending_since timestamptz,
  checks integer not null default 0,
  -- First of the consecutive failures of a verified domain.
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

-- Keys that sign user tokens. The newest signs; an older one verifies until its last token has expired.
create table signing_key (
  kid text primary key,
  -- PKCS #8, encrypted with kid as the context.
  private_key bytea not null,
  created_at timestamptz not null
);

-- Valid user tokens: deleting the row revokes the token.
create table user_token (
  -- `jti` of the JWT.
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  expires_at timestamptz not null
);
create index user_token_account on user_token (account_id);
create index user_token_expires on user_token (expires_at);

-- Sessions of the dashboard: deleting the row ends the session.
create table user_session (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  -- SHA-256 of the cookie's value.
  hash bytea not null,
  -- Value of the account at sign-in: a new password increments it, which ends older sessions.
  token_epoch integer not null,
  created_at timestamptz not null,
  -- Accurate to a few minutes.
  last_seen_at timestamptz not null,
  password_checked_at timestamptz not null,
  -- Address of the last use.
  ip text,
  user_agent text not null
);
create unique index user_session_hash on user_session (hash);
create index user_session_account on user_session (account_id, id);
create index user_session_seen on user_session (last_seen_at);

-- A row without enabled_at is an enrollment that was not confirmed.
create table two_factor (
  account_id text primary key references account (id) on delete cascade,
  -- Encrypted: codes are computed from the secret.
  secret bytea not null,
  enabled_at timestamptz,
  -- Newest time step whose code was accepted: each code works once.
  last_step bigint not null default 0,
  created_at timestamptz not null
);

create table recovery_code (
  account_id text not null references account (id) on delete cascade,
  -- Keyed hash of the code.
  hash text not null,
  used_at timestamptz,
  primary key (account_id, hash)
);

-- Sign-ins with a correct password that wait for the second factor.
create table sign_in_challenge (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  attempts smallint not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index sign_in_challenge_account on sign_in_challenge (account_id, created_at);

-- Locations an account has signed in from; owners are notified of new ones.
create table sign_in_location (
  account_id text not null references account (id) on delete cascade,
  -- Keyed hash of the account and the address block, which reveals nothing without SECRET_KEY.
  location_hash bytea not null,
  -- Keyed hash of the network (IPv4 /24, IPv6 /48): failures from other networks do not slow down sign-ins from
  -- there. Null until the next sign-in from the location.
  network bytea,
  last_seen_at timestamptz not null,
  primary key (account_id, location_hash)
);
create index sign_in_location_seen on sign_in_location (last_seen_at);

-- Links sent by email. Only the SHA-256 of the token is stored.
create table email_token (
  hash bytea primary key,
  account_id text not null references account (id) on delete cascade,
  purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD', 'CHANGE_EMAIL', 'KEEP_EMAIL')),
  -- Recipient: the link proves nothing about a later address.
  email text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index email_token_account on email_token (account_id, purpose, created_at);
-- While an address can be restored, no other account can register it.
create index email_token_kept on email_token (email) where purpose = 'KEEP_EMAIL' and used_at is null;

-- Addresses for which a public page requested a link. The worker checks whether an account exists, so that the
-- response takes the same time in both cases.
create table email_link_request (
  id bigint generated always as identity primary key,
  purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD')),
  email text not null,
  created_at timestamptz not null
);

-- Operator's invitations for people without an account. Only the SHA-256 of the token is stored.
create table registration_invite (
  hash bytea primary key,
  email text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

-- Members who act for an account that is not their own. The owner has no row.
create table team_member (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  -- Member's own account.
  user_id text not null references account (id) on delete cascade,
  team_role text not null check (team_role in ('ADMIN', 'EDITOR', 'ANALYST')),
  event_sequence integer not null default 0,
  joined_at timestamptz not null,
  unique (account_id, user_id),
  check (account_id <> user_id)
);
create index team_member_user on team_member (user_id);

create table team_invitation (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  email text not null,
  team_role text not null check (team_role in ('ADMIN', 'EDITOR', 'ANALYST')),
  -- SHA-256 of the token in the email.
  hash bytea not null,
  -- A pending invitation after expires_at counts as expired.
  status text not null check (status in ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED')),
  -- No foreign key: it stays when the member is deleted.
  invited_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create unique index team_invitation_hash on team_invitation (hash);
create index team_invitation_account on team_invitation (account_id, id);
create unique index team_invitation_pending on team_invitation (account_id, email) where status = 'PENDING';

-- Last time a user acted for an account, their own or a team's, accurate to a few minutes.
create table team_activity (
  account_id text not null references account (id) on delete cascade,
  user_id text not null references account (id) on delete cascade,
  last_active_at timestamptz not null,
  primary key (account_id, user_id)
);

-- Deleted accounts: restorable until due_at, then erased.
create table account_erasure (
  account_id text primary key references account (id) on delete cascade,
  requested_at timestamptz not null,
  due_at timestamptz not null,
  -- SHA-256 of the token that restores the account.
  undo_token_hash bytea unique,
  -- From then on the account cannot be restored.
  started_at timestamptz,
  erased_at timestamptz
);

-- Archives of an account's data, created by a job.
create table account_export (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  status text not null check (status in ('PENDING', 'READY', 'FAILED')),
  size_bytes bigint,
  created_at timestamptz not null,
  ready_at timestamptz,
  -- The file is deleted then.
  expires_at timestamptz
);
create index account_export_account on account_export (account_id, id);
create unique index account_export_pending on account_export (account_id) where status = 'PENDING';

create table follow (
  id text primary key,
  -- Followed channel: the live one of an account, or its test one.
  workspace_id text not null references workspace (id) on delete cascade,
  follower_id text not null references account (id) on delete cascade,
  created_at timestamptz not null
);
create unique index follow_once on follow (workspace_id, follower_id);
create index follow_follower on follow (follower_id);

-- Updated in the transaction of each follow, because counting rows gets slower the more there are.
create table follower_count (
  workspace_id text primary key references workspace (id) on delete cascade,
  followers integer not null check (followers >= 0),
  -- Sequence number of the last event about followers.
  event_sequence integer not null
);
