-- An upload address takes bytes without a key, for as long as whoever opened it may still write: the key that asked, where it was
-- one, and the member of the team who acts by it or is signed in; null for the owner, and once
-- the session has ended. Those from before are the owner's.
alter table upload add column key_id text;
alter table upload add column opened_by text;
