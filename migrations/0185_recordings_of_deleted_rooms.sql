-- A recording is told of once it can be played, and found by the booking that it is of, also where its room was deleted
-- before that.

alter table room_recording
  -- Whose id the room had.
  add column deleted_room_id text,
  -- The number of the last event about it.
  add column deleted_room_sequence integer;
create index room_recording_deleted_room on room_recording (deleted_room_id) where deleted_room_id is not null;
