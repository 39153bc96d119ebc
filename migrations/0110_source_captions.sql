-- Captions and chapters that come with a file, and what of it could not be kept.

-- Of the file of the video, so they are made anew with it; what somebody has sent in has the position 0.
alter table video_caption
  add column from_source boolean not null default false,
  add column position integer not null default 0,
  add column is_default boolean not null default false;

-- What viewers miss of the file, in words: `[{code, message}]`.
alter table video add column processing_notes jsonb not null default '[]';

-- Videos whose file was looked at before have none to wait for.
alter table video_processing add column captions_done boolean not null default true;
alter table video_processing alter column captions_done drop default;
update video_processing set source = (source::jsonb || '{"captions": [], "chapters": [], "notes": []}')::text;
