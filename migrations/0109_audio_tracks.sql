-- Every sound of a source becomes a rendition of its own: which of them it is, and what viewers are told of it.

-- `track` counts the sounds of the source from 0, the one that plays by default. A sound may be made twice: in stereo,
-- and as surround with more channels.
alter table video_rendition
  add column track integer,
  add column language text,
  add column label text,
  add column channels integer,
  add column is_description boolean not null default false;
update video_rendition set track = 0, label = 'Main', channels = 2 where kind = 'AUDIO';

-- What is known of sources and made of them had one sound or none; it has a list now.
update video_processing set
  source = jsonb_set(source::jsonb, '{audio}',
    case when jsonb_typeof(source::jsonb -> 'audio') = 'object'
      then jsonb_build_array((source::jsonb -> 'audio')
        || '{"language": null, "title": null, "isDescription": false}')
      else '[]' end)::text,
  ladder = jsonb_set(ladder::jsonb, '{audio}',
    case when jsonb_typeof(ladder::jsonb -> 'audio') = 'object'
      then jsonb_build_array((ladder::jsonb -> 'audio')
        || '{"name": "audio", "track": 0, "language": null, "label": "Main", "isDescription": false}'
        || jsonb_build_object('streamIndex', source::jsonb #> '{audio,streamIndex}'))
      else '[]' end)::text;
