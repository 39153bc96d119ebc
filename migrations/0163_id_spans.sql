-- Searches go through ids from one end by spans of their time (docs/decisions/lists-and-ids.md#searches).

-- The spans that a row with such an id is in, of whatever the scope names: by the first 2 to 7 characters of the id, of
-- 35 years, 400 days, 12 days, 9 hours, 17 minutes and 33 seconds. Prefixes of ids have three letters.
create function id_spans(scope text, id text) returns text[] language sql immutable parallel safe
  return array[scope || substr(id, 5, 2), scope || substr(id, 5, 3), scope || substr(id, 5, 4),
    scope || substr(id, 5, 5), scope || substr(id, 5, 6), scope || substr(id, 5, 7)];

-- The day and the month of an instant, in UTC.
create function day_and_month(instant timestamptz) returns text[] language sql immutable parallel safe
  return array['d' || (extract(epoch from date_trunc('day', instant at time zone 'UTC')) / 86400)::integer::text,
    'm' || (extract(year from instant at time zone 'UTC') * 12 + extract(month from instant at time zone 'UTC'))::integer::text];
