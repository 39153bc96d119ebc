-- A plan has so many upload sessions that wait for bytes.
create index upload_open_workspace on upload (workspace_id) where ended_at is null;
