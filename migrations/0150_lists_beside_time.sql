-- What was still read in a number that grows with the table (docs/decisions/lists-and-ids.md#filters).

-- Videos of a stream, or of an id of the partner's, by state.
create index concurrently video_stream_state on video (stream_id, status, visibility, id collate "C" desc)
  where stream_id is not null and deleted_at is null;
drop index concurrently video_stream;
create index concurrently video_external_state on video
  (workspace_id, external_id, status, visibility, id collate "C" desc)
  where external_id is not null and deleted_at is null;
drop index concurrently video_external;

-- Bookings that begin on one day, or in one month.
create index concurrently booking_day on booking
  (workspace_id, date_trunc('day', starts_at at time zone 'UTC'), status, id collate "C" desc);
create index concurrently booking_month on booking
  (workspace_id, date_trunc('month', starts_at at time zone 'UTC'), status, id collate "C" desc);

-- Where in the order of a chat a time is.
create index concurrently chat_message_time on chat_message (stream_id, created_at);
