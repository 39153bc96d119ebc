-- Sessions of the dashboard, and invitations to make an account.

-- A session is good while its row is there.
create table user_session (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  -- SHA-256 of the cookie's value.
  hash bytea not null,
  -- The account's at the sign-in: a new password raises it, and ends what was signed in with the old one.
  token_epoch integer not null,
  created_at timestamptz not null,
  -- To a few minutes.
  last_seen_at timestamptz not null,
  password_checked_at timestamptz not null,
  -- Where it was last used from.
  ip text,
  user_agent text not null
);
create unique index user_session_hash on user_session (hash);
create index user_session_account on user_session (account_id, id);
create index user_session_seen on user_session (last_seen_at);

-- The operator's, for somebody who has no account. Only the SHA-256 of the token is kept.
create table registration_invite (
  hash bytea primary key,
  email text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
