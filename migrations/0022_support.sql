-- What an account asks the operator. Of the account, not of a workspace: both modes share it.

create table support_ticket (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  -- Where it was opened: webhooks of that workspace hear of it.
  workspace_id text not null references workspace (id) on delete cascade,
  -- Counts the tickets of the account.
  number integer not null check (number > 0),
  subject text not null,
  category text not null check (category in ('BILLING', 'TECHNICAL', 'ACCOUNT', 'ABUSE', 'OTHER')),
  priority text not null check (priority in ('LOW', 'NORMAL', 'HIGH')),
  status text not null check (status in ('OPEN', 'PENDING', 'RESOLVED', 'CLOSED')),
  -- Of the answer that it is about.
  request_id text,
  -- Counts the events about it.
  event_sequence integer not null default 0,
  last_message_at timestamptz not null,
  resolved_at timestamptz,
  created_at timestamptz not null,
  unique (account_id, number),
  check ((status = 'RESOLVED') = (resolved_at is not null))
);
create index support_ticket_account on support_ticket (account_id, id desc);
create index support_ticket_status on support_ticket (status, id);
create index support_ticket_resolved on support_ticket (resolved_at) where resolved_at is not null;

create table support_message (
  id text primary key,
  ticket_id text not null references support_ticket (id) on delete cascade,
  author text not null check (author in ('PARTNER', 'STAFF')),
  message text not null,
  created_at timestamptz not null
);
create index support_message_ticket on support_message (ticket_id, id);
