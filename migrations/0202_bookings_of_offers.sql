-- The entry of the waitlist whose mailed link was used to book: a typed address takes no place that is kept for somebody.
alter table booking add column waitlist_entry_id text;
