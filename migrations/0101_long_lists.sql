-- Lists of videos and streams read no more rows than they show, whatever they are filtered by
-- (docs/decisions/lists-and-ids.md#filters).

-- One for status, visibility and both: a list by one of them takes a page of each value of the other.
create index video_state on video (workspace_id, status, visibility, id desc) where deleted_at is null;
drop index video_status;
drop index video_visibility;
drop index video_stream;
create index video_stream on video (stream_id, id desc) where stream_id is not null;
-- For what is too short for three letters in a row, or has none that the index of those knows.
create index video_letters on video using gin (string_to_array(lower(title), null)) where deleted_at is null;

create index stream_state on stream (workspace_id, visibility, enabled, id desc) where deleted_at is null;
