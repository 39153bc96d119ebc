-- How many there are of what a workspace may have very many of: kept, not counted at each look.

-- What each change adds and takes, some rows for each name: the count is their sum. Two changes at the same time wait
-- for no row of each other. The worker makes one row of many.
create table kept_count (
  workspace_id text not null references workspace (id) on delete cascade,
  name text not null check (name in (
    'VIDEOS', 'VIDEOS_READY', 'VIDEOS_PROCESSING', 'VIDEOS_FAILED', 'VIDEO_MS', 'STREAMS', 'PLAYLISTS', 'SUBSCRIBERS')),
  amount bigint not null
);
create index kept_count_workspace on kept_count (workspace_id, name);

-- What one row counts for. The triggers below and the command that counts again go by these alone.
create function counts_of(one video) returns table (name text, amount bigint) language sql stable as $$
  select counted.name, counted.amount from (values
    ('VIDEOS', 1::bigint),
    ('VIDEOS_READY', case when one.status = 'READY' then 1 else 0 end),
    ('VIDEOS_PROCESSING', case when one.status in ('QUEUED', 'PROCESSING') then 1 else 0 end),
    ('VIDEOS_FAILED', case when one.status = 'FAILED' then 1 else 0 end),
    ('VIDEO_MS', coalesce(round(one.duration_sec * 1000), 0)::bigint)) counted (name, amount)
  where one.deleted_at is null and counted.amount <> 0 $$;
create function counts_of(one stream) returns table (name text, amount bigint) language sql stable as $$
  select 'STREAMS', 1::bigint where one.deleted_at is null $$;
create function counts_of(one playlist) returns table (name text, amount bigint) language sql stable as $$
  select 'PLAYLISTS', 1::bigint $$;
create function counts_of(one subscriber) returns table (name text, amount bigint) language sql stable as $$
  select 'SUBSCRIBERS', 1::bigint where one.status = 'CONFIRMED' $$;

create function keep_counts() returns trigger language plpgsql as $$ begin
  if tg_op = 'INSERT' then
    insert into kept_count (workspace_id, name, amount)
    select new.workspace_id, of.name, of.amount from counts_of(new) of;
  elsif tg_op = 'UPDATE' then
    insert into kept_count (workspace_id, name, amount)
    select new.workspace_id, of.name, sum(of.amount) from (
      select name, amount from counts_of(new) union all select name, -amount from counts_of(old)) of
    group by of.name having sum(of.amount) <> 0;
  else
    -- With its workspace, its counts go.
    insert into kept_count (workspace_id, name, amount)
    select old.workspace_id, of.name, -of.amount from counts_of(old) of
    where exists (select from workspace where id = old.workspace_id);
  end if;
  return null;
end $$;

create trigger video_made_or_gone after insert or delete on video for each row execute function keep_counts();
create trigger video_changed after update on video for each row
  when ((old.status, old.deleted_at is null, old.duration_sec)
    is distinct from (new.status, new.deleted_at is null, new.duration_sec)) execute function keep_counts();
create trigger stream_made_or_gone after insert or delete on stream for each row execute function keep_counts();
create trigger stream_changed after update on stream for each row
  when ((old.deleted_at is null) <> (new.deleted_at is null)) execute function keep_counts();
create trigger playlist_made_or_gone after insert or delete on playlist for each row execute function keep_counts();
create trigger subscriber_made_or_gone after insert or delete on subscriber
  for each row execute function keep_counts();
create trigger subscriber_changed after update on subscriber for each row
  when (old.status <> new.status) execute function keep_counts();

insert into kept_count (workspace_id, name, amount)
select workspace_id, of.name, sum(of.amount) from video one, counts_of(one) of group by 1, 2;
insert into kept_count (workspace_id, name, amount)
select workspace_id, of.name, sum(of.amount) from stream one, counts_of(one) of group by 1, 2;
insert into kept_count (workspace_id, name, amount)
select workspace_id, of.name, sum(of.amount) from playlist one, counts_of(one) of group by 1, 2;
insert into kept_count (workspace_id, name, amount)
select workspace_id, of.name, sum(of.amount) from subscriber one, counts_of(one) of group by 1, 2;

-- Was for counting at each look.
drop index video_minutes;
