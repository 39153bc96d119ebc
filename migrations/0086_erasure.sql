-- Accounts that their owners have deleted: erased when they are due, and given back until then.

create table account_erasure (
  account_id text primary key references account (id) on delete cascade,
  requested_at timestamptz not null,
  due_at timestamptz not null,
  -- SHA-256 of the token with which the owner takes it back.
  keep_hash bytea unique,
  -- From here on nothing is given back.
  begun_at timestamptz,
  erased_at timestamptz
);
