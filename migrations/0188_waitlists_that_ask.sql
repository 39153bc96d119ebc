-- Anybody can type an address on a public page. Whoever waits by one has a turn once they have confirmed it; a place that is
-- kept for a day for somebody who never asked for it is nobody's.
alter table waitlist_entry add column confirmed_at timestamptz;
update waitlist_entry set confirmed_at = created_at;
create index waitlist_entry_unconfirmed on waitlist_entry (created_at) where status = 'WAITING' and confirmed_at is null;
