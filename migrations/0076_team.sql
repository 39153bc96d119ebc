-- People who act for an account that is not their own.

create table team_member (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  -- The person, by the account of their own. The owner of an account has no row: it is theirs.
  user_id text not null references account (id) on delete cascade,
  team_role text not null check (team_role in ('ADMIN', 'EDITOR', 'ANALYST')),
  -- Counts the events about the member.
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
  -- SHA-256 of the token in the mail.
  hash bytea not null,
  -- A pending one that is past its time is EXPIRED whatever stands here.
  status text not null check (status in ('PENDING', 'ACCEPTED', 'REVOKED', 'EXPIRED')),
  -- Who invited: no foreign key, it says where it came from.
  invited_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create unique index team_invitation_hash on team_invitation (hash);
create index team_invitation_account on team_invitation (account_id, id);
create unique index team_invitation_pending on team_invitation (account_id, email) where status = 'PENDING';

-- When a person last acted for an account, their own or one of a team, to some minutes.
create table team_activity (
  account_id text not null references account (id) on delete cascade,
  user_id text not null references account (id) on delete cascade,
  last_active_at timestamptz not null,
  primary key (account_id, user_id)
);

-- The member who made the key, which acts within that member's role; null for the owner's. No foreign key: without
-- its maker a key must end, not become the owner's.
alter table api_key add column made_by text;
create index api_key_made_by on api_key (made_by) where made_by is not null;
