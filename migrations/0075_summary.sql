-- For GET /summary: what is on now, and what comes, is counted without reading the rest.

create index room_active on room (workspace_id) where status = 'ACTIVE';
create index restream_workspace_running on restream (workspace_id) where is_running;
create index booking_upcoming on booking (workspace_id, starts_at) where status = 'CONFIRMED';
create index stream_signal on stream (workspace_id) where has_signal;
