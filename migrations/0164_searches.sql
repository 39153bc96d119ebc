-- Texts, and bookings and payouts by a second time, in the order of ids by their spans
-- (docs/decisions/lists-and-ids.md#searches). What was just written waits in a list that every look reads: a short one.

create index concurrently video_search on video using gin
  ((id_spans(workspace_id, id) || array[status, visibility, external_id, stream_id] || tags), title gin_trgm_ops,
    string_to_array(lower(title), null))
  with (gin_pending_list_limit = 64) where deleted_at is null;
drop index concurrently video_title;
drop index concurrently video_letters;

create index concurrently subscriber_search on subscriber using gin
  ((id_spans(workspace_id, id) || array[status]), (email || ' ' || coalesce(name, '')) gin_trgm_ops,
    string_to_array(lower(email || ' ' || coalesce(name, '')), null))
  with (gin_pending_list_limit = 64);
drop index concurrently subscriber_text;

create index concurrently booking_search on booking using gin
  ((id_spans(product_id, id) || id_spans(workspace_id || customer_email, id) || array[status]),
    (day_and_month(starts_at) || array[cohort_id]))
  with (gin_pending_list_limit = 64);

create index concurrently payout_search on payout using gin
  ((id_spans(workspace_id, id) || array[status]), day_and_month(created_at))
  with (gin_pending_list_limit = 64);
create index concurrently payout_created on payout (workspace_id, created_at);

-- What waits for one webhook, in the order in which it was planned.
create index concurrently delivery_job_webhook on delivery_job (webhook_id, id);
