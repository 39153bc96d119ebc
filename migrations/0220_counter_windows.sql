-- Counts of rate-limit windows that outlive a restart where there is no Redis (docs/decisions/rate-limits.md#restarts). Rows are
-- updated every few seconds, so half of each page is left free for new versions of them.
create table counter_window (
  name text not null,
  key text not null,
  ends_at timestamptz not null,
  hits bigint not null,
  primary key (name, key)
) with (fillfactor = 50);
