-- Only its creator ends a broadcast, unless the stream has a limit of its own: 12 hours was the default.

alter table stream alter column max_duration_sec drop not null;
alter table stream alter column max_duration_sec drop default;
update stream set max_duration_sec = null where max_duration_sec = 43200;

-- A broadcast that lasts longer than a video may has several recordings. The first is called as the session is.

alter table recording add column id text;
alter table recording add column number integer not null default 1;
update recording set id = session_id;
alter table recording_part drop constraint recording_part_session_id_fkey;
alter table recording drop constraint recording_pkey;
alter table recording alter column id set not null;
alter table recording add primary key (id);
alter table recording add constraint recording_number unique (session_id, number);
alter table recording_part rename column session_id to recording_id;
alter table recording_part add foreign key (recording_id) references recording (id) on delete cascade;
alter index recording_part_session rename to recording_part_recording;

-- What the part takes of the workspace's storage, until the video has it.
alter table recording_part add column held_bytes bigint not null default 0;
