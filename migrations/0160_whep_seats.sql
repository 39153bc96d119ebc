-- How many watch in real time from one address is bounded.

alter table whep_session
  -- A keyed hash of the address that the viewer came from; null where the api role is of a version without that bound.
  add column address_mark text;
create index whep_session_address_mark on whep_session (address_mark);
