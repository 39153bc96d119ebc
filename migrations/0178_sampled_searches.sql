-- The indexes of searches with the samples of their rows (docs/decisions/lists-and-ids.md#searches).

create index concurrently video_search_sampled on video using gin
  ((sampled_spans(workspace_id, id) || array[status, visibility, external_id, stream_id] || tags), title gin_trgm_ops,
    string_to_array(lower(title), null))
  with (gin_pending_list_limit = 64) where deleted_at is null;
drop index concurrently video_search;
alter index video_search_sampled rename to video_search;

create index concurrently subscriber_search_sampled on subscriber using gin
  ((sampled_spans(workspace_id, id) || array[status]), (email || ' ' || coalesce(name, '')) gin_trgm_ops,
    string_to_array(lower(email || ' ' || coalesce(name, '')), null))
  with (gin_pending_list_limit = 64);
drop index concurrently subscriber_search;
alter index subscriber_search_sampled rename to subscriber_search;

create index concurrently booking_search_sampled on booking using gin
  ((sampled_spans(product_id, id) || sampled_spans(workspace_id || customer_email, id) || array[status]),
    (day_and_month(starts_at) || array[cohort_id]))
  with (gin_pending_list_limit = 64);
drop index concurrently booking_search;
alter index booking_search_sampled rename to booking_search;

create index concurrently payout_search_sampled on payout using gin
  ((sampled_spans(workspace_id, id) || array[status]), day_and_month(created_at))
  with (gin_pending_list_limit = 64);
drop index concurrently payout_search;
alter index payout_search_sampled rename to payout_search;
