-- Reports from public pages are tickets of nobody's account: the operator alone sees them.

alter table support_ticket
  alter column account_id drop not null,
  alter column workspace_id drop not null,
  -- Where the operator's answer goes, if anywhere.
  add column reporter_email text,
  add column reported_type text check (reported_type in ('VIDEO', 'STREAM', 'CHANNEL')),
  -- An id, or the user name of a channel.
  add column reported_id text,
  add check ((account_id is null) = (workspace_id is null)),
  add check ((account_id is null) = (reported_type is not null)),
  add check ((reported_type is null) = (reported_id is null)),
  add check (reporter_email is null or account_id is null);
-- What `number` counts for them.
create sequence report_number;
