-- The tags of videos, a row for each: a list of those that have a tag has an order that no index of arrays has
-- (docs/decisions/lists-and-ids.md#filters). Kept by the triggers below alone; those of videos
-- that are there already come in 0165_tags_of_videos.sql, since nobody can write to videos before this is done.

create table video_tag (
  workspace_id text not null,
  tag text not null,
  status text not null,
  visibility text not null,
  video_id text not null,
  primary key (workspace_id, tag, status, visibility, video_id)
);

create function keep_video_tags() returns trigger language plpgsql as $$ begin
  if tg_op <> 'INSERT' then
    delete from video_tag where workspace_id = old.workspace_id and tag = any(old.tags)
      and status = old.status and visibility = old.visibility and video_id = old.id;
  end if;
  if tg_op <> 'DELETE' and new.deleted_at is null then
    insert into video_tag (workspace_id, tag, status, visibility, video_id)
    select distinct new.workspace_id, tag, new.status, new.visibility, new.id from unnest(new.tags) tag;
  end if;
  return null;
end $$;

create trigger video_tagged after insert on video for each row
  when (new.tags <> '{}') execute function keep_video_tags();
create trigger video_tags_changed after update on video for each row
  when ((old.tags <> '{}' or new.tags <> '{}') and (old.tags, old.status, old.visibility, old.deleted_at is null)
    is distinct from (new.tags, new.status, new.visibility, new.deleted_at is null))
  execute function keep_video_tags();
create trigger video_tags_gone after delete on video for each row
  when (old.tags <> '{}') execute function keep_video_tags();
