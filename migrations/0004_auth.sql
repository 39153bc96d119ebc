-- Sign-in: user tokens, the second factor, links sent by mail, and the mail itself.

-- Every user token carries the epoch it was made in: raising it signs the account out everywhere.
alter table account add column token_epoch integer not null default 0;

-- Keys that sign user tokens. The newest signs; an older one verifies until its last token has expired.
create table signing_key (
  kid text primary key,
  -- PKCS #8, encrypted with the kid as its context.
  private_key bytea not null,
  created_at timestamptz not null
);

-- A row without enabled_at is an enrolment that was not confirmed.
create table two_factor (
  account_id text primary key references account (id) on delete cascade,
  -- Encrypted: codes are computed from the secret itself.
  secret bytea not null,
  enabled_at timestamptz,
  -- The newest time step whose code was accepted: a code is good once.
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

-- A sign-in whose password was right and whose second factor is awaited.
create table sign_in_challenge (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  tries smallint not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index sign_in_challenge_account on sign_in_challenge (account_id, created_at);

-- Links sent by mail. Only the SHA-256 of the token is kept.
create table email_token (
  hash bytea primary key,
  account_id text not null references account (id) on delete cascade,
  purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD')),
  -- The address that it was sent to: it proves nothing about a later one.
  email text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index email_token_account on email_token (account_id, purpose, created_at);

-- Addresses for which a link was asked for on a public page. The worker looks whether there is an account, so
-- that the page takes the same time either way.
create table link_request (
  id bigint generated always as identity primary key,
  purpose text not null check (purpose in ('VERIFY_EMAIL', 'RESET_PASSWORD')),
  email text not null,
  created_at timestamptz not null
);

-- Outgoing mail, written in the transaction of the change that it tells of.
create table mail (
  id text primary key,
  kind text not null,
  recipient text not null,
  subject text not null,
  -- Encrypted, as the text holds links that sign in; null once an SMTP server has taken the mail.
  body bytea,
  status text not null default 'QUEUED' check (status in ('QUEUED', 'SENT', 'KEPT', 'FAILED')),
  attempts smallint not null default 0,
  last_error text,
  next_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz
);
create index mail_due on mail (next_at) where status = 'QUEUED';
create index mail_created on mail (created_at);
