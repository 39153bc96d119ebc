-- The same spans in a third of the time: a search asks for them four times (docs/decisions/lists-and-ids.md#searches).
create or replace function spans_between(scope text, low text, high text) returns text[] language plpgsql immutable parallel safe as $$
declare
  digits constant text := '0123456789abcdefghjkmnpqrstvwxyz';
  spans text[] := '{}';
  parent text;
  digit integer;
  latest integer;
begin
  for width in 2..greatest(length(low), length(high)) loop
    -- Behind the low one, before the high one; where both are in one span, between them.
    for side in 1..2 loop
      if side = 1 then
        continue when width > length(low);
        parent := left(low, width - 1);
        digit := strpos(digits, substr(low, width, 1)) - (width = length(low))::integer;
      else
        continue when width > length(high) or width <= length(low) and left(low, width - 1) = left(high, width - 1);
        parent := left(high, width - 1);
        digit := 0;
      end if;
      latest := case when width <= length(high) and parent = left(high, width - 1)
        then strpos(digits, substr(high, width, 1)) - 2 + (width = length(high))::integer else 31 end;
      while digit <= latest loop
        if width between 4 and 6 and digit % 4 = 0 and digit + 3 <= latest then
          spans := spans || (scope || parent || chr(65 + digit / 4));
          digit := digit + 4;
        else
          spans := spans || (scope || parent || substr(digits, digit + 1, 1));
          digit := digit + 1;
        end if;
      end loop;
    end loop;
  end loop;
  return spans;
end $$;
