-- What reading videos needs: filters of a long list, public lists, and the search in titles.

alter table video add column has_preview boolean not null default false;

create index video_visibility on video (workspace_id, visibility, id desc) where deleted_at is null;
create index video_public on video (id desc)
  where deleted_at is null and status = 'READY' and visibility = 'PUBLIC';
create index video_public_workspace on video (workspace_id, id desc)
  where deleted_at is null and status = 'READY' and visibility = 'PUBLIC';
create index video_recording on video (created_at) where deleted_at is null and source = 'RECORDING';

-- Without the extension the search in titles works as well, and reads every title of the workspace.
do $$
begin
  create extension if not exists pg_trgm;
  create index video_title on video using gin (title gin_trgm_ops) where deleted_at is null;
exception
  when insufficient_privilege or undefined_file or feature_not_supported or undefined_object then
    raise notice 'pg_trgm is not there: the search in titles has no index';
end
$$;
