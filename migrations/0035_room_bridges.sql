-- Bridges between rooms and streams: a stream that plays in a room is a participant of it, and no person.

alter table room_participant add column bridge_id text;
create index room_participant_bridge on room_participant (bridge_id) where bridge_id is not null;

-- A host may remove a stream from a room.
alter table bridge drop constraint bridge_end_reason_check;
alter table bridge add constraint bridge_end_reason_check
  check (end_reason in ('SOURCE_ENDED', 'TARGET_ENDED', 'TARGET_TAKEN', 'EXPIRED', 'SUSPENDED', 'REMOVED', 'DELETED'));
create index bridge_source on bridge (source_id) where status not in ('FAILED', 'STOPPED');
