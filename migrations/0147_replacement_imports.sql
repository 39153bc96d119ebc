-- The file that replaces that of a video may be fetched from an address.

alter table video_replacement alter column upload_id drop not null;
alter table video_replacement add column import_id text;
alter table video_replacement add constraint video_replacement_source_check
  check (num_nonnulls(upload_id, import_id) = 1);

-- Brings the file of a replacement; otherwise the first one of its video.
alter table import add column replaces boolean not null default false;
