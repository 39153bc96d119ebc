-- Lists by a tag read the table of tags (docs/decisions/lists-and-ids.md#filters): nothing asks for the index of arrays.
drop index concurrently video_tags;
