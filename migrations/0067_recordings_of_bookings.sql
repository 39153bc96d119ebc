-- A room can be recorded more than once: each of its bookings has all of its recordings. `recording_video_id` is the
-- last one.
alter table booking add column recording_video_ids text[] not null default '{}';
update booking set recording_video_ids = array[recording_video_id] where recording_video_id is not null;

-- Counted where it is read: a number in the product let one booking of it be made at a time.
alter table booking_product drop column booking_count;
