-- Functions of the searches by sampled spans of IDs, which no index has anymore.
drop function sampled_spans(text, text);
drop function spans_between(text, text, text);
drop function id_spans(text, text);
drop function parts_sought(text);
drop function day_and_month(timestamptz);
