-- The indexes of searches by what they answer for sure (docs/decisions/lists-and-ids.md#searches).

create index concurrently video_search_exact on video using gin
  ((sampled_spans(workspace_id, id) || array[status, visibility, external_id, stream_id] || tags),
    (show_trgm(title) || string_to_array(lower(title), null)))
  with (gin_pending_list_limit = 64) where deleted_at is null;
drop index concurrently video_search;
alter index video_search_exact rename to video_search;

create index concurrently subscriber_search_exact on subscriber using gin
  ((sampled_spans(workspace_id, id) || array[status]),
    (show_trgm(email || ' ' || coalesce(name, ''))
      || string_to_array(lower(email || ' ' || coalesce(name, '')), null)))
  with (gin_pending_list_limit = 64);
drop index concurrently subscriber_search;
alter index subscriber_search_exact rename to subscriber_search;
