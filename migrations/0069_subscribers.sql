-- The list of people whom a creator may write to.

create table subscriber (
  id text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  email text not null,
  name text,
  status text not null check (status in ('PENDING', 'CONFIRMED', 'UNSUBSCRIBED')),
  -- Where it comes from, in the words of whoever added it.
  source text not null,
  -- When the person agreed, as whoever added it says.
  consent_at timestamptz,
  -- Counts the times that it had to be confirmed: the links of the times before are void.
  round integer not null default 1 check (round > 0),
  event_sequence integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index subscriber_email on subscriber (workspace_id, email);
create index subscriber_workspace on subscriber (workspace_id, id desc);
create index subscriber_status on subscriber (workspace_id, status, id desc);

-- What is kept of an address whatever becomes of its row: that it was asked, and that it said no.
create table subscriber_address (
  workspace_id text not null references workspace (id) on delete cascade,
  -- A keyed hash.
  address bytea not null,
  asked_at timestamptz,
  left_at timestamptz,
  primary key (workspace_id, address)
);
create index subscriber_address_asked on subscriber_address (asked_at) where left_at is null;

-- Where the reader of a mail leaves the list that it went to; encrypted, as it acts for them.
alter table mail add column unsubscribe_url bytea;
