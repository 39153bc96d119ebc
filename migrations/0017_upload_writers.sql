-- One request writes to an upload at a time, whichever process it reached: the lease of the writer.
alter table upload add column writer text;
alter table upload add column writer_seen_at timestamptz;
-- Bytes of it are in the store and belong to no video: they are to be removed when it ends without success.
alter table upload add column has_bytes boolean not null default false;

create index upload_uncleared on upload (id) where has_bytes and ended_at is not null;
create index upload_whole on upload (id) where ended_at is null and received_bytes = size_bytes;
