-- Archives of everything that an account has, made by a job and kept for some days.

create table account_export (
  id text primary key,
  account_id text not null references account (id) on delete cascade,
  status text not null check (status in ('PENDING', 'READY', 'FAILED')),
  size_bytes bigint,
  created_at timestamptz not null,
  ready_at timestamptz,
  -- The file is removed then.
  expires_at timestamptz
);
create index account_export_account on account_export (account_id, id);
create unique index account_export_pending on account_export (account_id) where status = 'PENDING';
