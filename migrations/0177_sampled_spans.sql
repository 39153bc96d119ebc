-- Where the matches of a search begin is known from a sample of the rows (docs/decisions/lists-and-ids.md#searches).

-- The spans that a row with such an id is in, and those of samples for the rows that are in them: of one of 32, of 1,024 and
-- of 32,768, named by their number before the scope. Spans are those of `id_spans`, which stays for nodes of the version
-- before, and of four of them each, by a capital letter instead of the last one of 4 to 6 characters. The narrowest one is
-- wider by a character from sample to sample. Not in SQL: that would be planned as a part of each statement.
create function sampled_spans(scope text, id text) returns text[] language plpgsql immutable parallel safe as $$
declare
  hash constant integer := hashtext(id);
  digits constant text := substr(id, 5, 7);
  fours constant text := translate(digits, '0123456789abcdefghjkmnpqrstvwxyz', 'AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHH');
  name text := scope;
  spans text[] := '{}';
begin
  for sample in 0..3 loop
    exit when hash % (1 << 5 * sample) <> 0;
    if sample > 0 then name := sample || scope; end if;
    spans := spans || (array[name || left(digits, 2), name || left(digits, 3),
      name || left(digits, 4), name || left(digits, 3) || substr(fours, 4, 1),
      name || left(digits, 5), name || left(digits, 4) || substr(fours, 5, 1),
      name || left(digits, 6), name || left(digits, 5) || substr(fours, 6, 1), name || digits])[:10 - 2 * sample];
  end loop;
  return spans;
end $$;

-- The spans that have all ids between two spans, these included, and no others: the widest ones that do. Both begin with
-- the same character, as all ids do until the year 3084.
create function spans_between(scope text, low text, high text) returns text[] language plpgsql immutable parallel safe as $$
declare
  digits constant text := '0123456789abcdefghjkmnpqrstvwxyz';
begin
  return array(
    select scope || parent || case when is_group then chr(65 + digit / 4) else substr(digits, digit + 1, 1) end
    from (
      select width, left(low, width - 1) as below, left(high, width - 1) as above,
        strpos(digits, substr(low, width, 1)) - (width = length(low))::integer as first,
        strpos(digits, substr(high, width, 1)) - 2 + (width = length(high))::integer as last,
        width <= length(low) as has_low, width <= length(high) as has_high
      from generate_series(2, greatest(length(low), length(high))) width) level,
    -- Behind the low one, before the high one; where both are in one span, between them.
    lateral (
      select below as parent, first as earliest, case when has_high and below = above then last else 31 end as latest
      where has_low
      union all
      select above, 0, last where has_high and not (has_low and below = above)) side,
    generate_series(earliest, latest) digit,
    lateral (select width between 4 and 6 and digit / 4 * 4 >= earliest and digit / 4 * 4 + 3 <= latest as is_group) grouped
    where not is_group or digit % 4 = 0);
end $$;
