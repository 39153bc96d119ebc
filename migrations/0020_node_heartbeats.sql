-- phase: expand
-- The heartbeat of a media node counts for all its sessions and recording parts: one row per process, not per session.
-- Nodes of the previous release write the time of each row; their program never expires a row without one.

-- Null until the node has announced where it listens for other nodes.
alter table media_node alter column url drop not null;
-- Null from the first heartbeat of the node on, whose time then counts; set again when the node has lost the connection.
alter table ingest_session alter column last_seen_at drop not null;
-- Null: the heartbeat of the node counts. So does that of whip_session.heartbeat_at.
alter table recording_part alter column last_seen_at drop not null;
