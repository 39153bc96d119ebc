-- Not in a transaction: the tags of videos that were there before the table of tags, some at a time, so that nobody who
-- writes to a video waits for all. A video that is changed meanwhile is taken as it is then. Again changes nothing.
do $$
declare
  last text := '';
  batch text[];
begin
  loop
    select array_agg(id order by id) into batch
    from (select id from video where id > last order by id limit 5000) one;
    exit when batch is null;
    insert into video_tag (workspace_id, tag, status, visibility, video_id)
    select distinct workspace_id, tag, status, visibility, id
    from (select * from video where id = any(batch) and deleted_at is null and tags <> '{}' for share) one, unnest(tags) tag
    on conflict do nothing;
    last := batch[cardinality(batch)];
    commit;
  end loop;
end $$;
