-- User tokens can be ended before they expire, and owners are told of sign-ins from new places.

-- A token is good while its row is there.
create table user_token (
  -- The `jti` of the JWT.
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  expires_at timestamptz not null
);
create index user_token_account on user_token (account_id);
create index user_token_expires on user_token (expires_at);

-- Where an account has signed in from.
create table sign_in_place (
  account_id text not null references account (id) on delete cascade,
  -- A keyed hash of the account and the block of addresses: it says nothing without SECRET_KEY.
  place bytea not null,
  seen_at timestamptz not null,
  primary key (account_id, place)
);
create index sign_in_place_seen on sign_in_place (seen_at);
