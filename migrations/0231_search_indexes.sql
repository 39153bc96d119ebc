-- Searches of texts by trigrams and single letters (docs/decisions/lists-and-ids.md#searches).

create index concurrently video_title_search on video using gin
  (workspace_id, title gin_trgm_ops, string_to_array(lower(title), null))
  with (gin_pending_list_limit = 64) where deleted_at is null;
drop index concurrently video_search;

create index concurrently subscriber_text_search on subscriber using gin
  (workspace_id, (email || ' ' || coalesce(name, '')) gin_trgm_ops,
    string_to_array(lower(email || ' ' || coalesce(name, '')), null))
  with (gin_pending_list_limit = 64);
drop index concurrently subscriber_search;

drop index concurrently booking_search;
drop index concurrently payout_search;
