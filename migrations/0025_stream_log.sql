-- What happened to a stream, in order, for its tails: a short memory from which a reader that comes back, to whichever
-- process, gets exactly what it missed.

-- The last entry of each tail. Its row is locked while an entry is appended, so numbers have no gap and commit in order.
create table stream_log_head (
  stream_id text not null references stream (id) on delete cascade,
  tail text not null check (tail in ('CHAT', 'STATUS')),
  seq bigint not null,
  at timestamptz not null,
  primary key (stream_id, tail)
);

create table stream_log (
  stream_id text not null,
  tail text not null check (tail in ('CHAT', 'STATUS')),
  seq bigint not null,
  -- Never before that of the entry before.
  at timestamptz not null,
  event text not null,
  -- JSON as it is sent; null where what it said was removed.
  body text,
  primary key (stream_id, tail, seq),
  foreign key (stream_id, tail) references stream_log_head (stream_id, tail) on delete cascade
);
create index stream_log_age on stream_log (tail, at);
