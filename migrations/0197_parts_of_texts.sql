-- What a search for a part of a text asks an index for (docs/decisions/lists-and-ids.md#searches): all of it is in the text,
-- whichever the locale, so that a row that the index gives need not be compared with it again.

-- Of an index of `show_trgm(text) || string_to_array(lower(text), null)`: three letters in a row, and its single letters where
-- the part has no three, but for one letter behind two blanks.
create function parts_sought(part text) returns text[] language plpgsql immutable parallel safe as $$
declare
  -- But for those of the words at both ends, which may go on in the text. What is not ASCII has a number instead of blanks.
  sure constant text[] := array(
    select unnest(show_trgm(part))
    except select first from unnest(show_trgm(left(part, 2))) first where first like ' %' or first not like '% '
    except select last from unnest(show_trgm(right(part, 2))) last where last like '% ' or last not like ' %');
  -- Each third one, and those where a word begins or ends, say nearly as much as all, and take half the time or less.
  few constant text[] := array(
    select one from unnest(sure) one
    where one like '% %' or one = lower(right(part, 3))
      or one in (select lower(substr(part, at, 3)) from generate_series(1, length(part), 3) at));
begin
  if exists (select from unnest(few) one where one not like '  %') then return few; end if;
  if exists (select from unnest(sure) one where one not like '  %') then return sure; end if;
  return sure || string_to_array(lower(part), null);
end $$;
