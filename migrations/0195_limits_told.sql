-- The limit under which it was told: under a higher one it is told of anew. 0 for what was told before this was kept.
alter table quota_notice add column told_limit bigint not null default 0;
