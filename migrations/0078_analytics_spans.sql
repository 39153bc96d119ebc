-- Sums of longer spans, so that a range of any length is a few rows: hours, 4 hours, days, 4, 16 and 64 days, all on
-- multiples of their length since 1970. Each is made of the one below when its time is over.

-- Spans that end until then are there, and take what comes late; null before the first are made.
alter table fact_sum_state add column closed_until timestamptz;

-- Made anew by the worker, like the others.
delete from analytics_total where span <> 15;
delete from analytics_share where span <> 15;

alter table analytics_total drop constraint analytics_total_span_check;
alter table analytics_total alter column span type integer;
alter table analytics_total add check (span in (15, 60, 240, 1440, 5760, 23040, 92160));
create index analytics_total_span on analytics_total (span, at);

-- The time before the value: all values of a span lie together.
drop index analytics_share_day;
alter table analytics_share drop constraint analytics_share_span_check;
alter table analytics_share drop constraint analytics_share_pkey;
alter table analytics_share alter column span type integer;
alter table analytics_share add check (span in (15, 60, 240, 1440, 5760, 23040, 92160));
alter table analytics_share add primary key
  (workspace_id, subject_kind, subject_id, dimension, span, at, value, is_self);
create index analytics_share_span on analytics_share (span, at);

alter table analytics_retention add column span integer not null default 1440
  check (span in (1440, 5760, 23040, 92160));
alter table analytics_retention alter column span drop default;
alter table analytics_retention drop constraint analytics_retention_pkey;
alter table analytics_retention add primary key (workspace_id, video_id, span, at, is_self);
create index analytics_retention_span on analytics_retention (span, at);

-- For a day that is made anew.
drop index usage_total_recent;
create index usage_total_span on usage_total (span, at);
create index usage_request_at on usage_request (at);
