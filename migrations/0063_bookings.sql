-- What bookings were promised when they were made, and what is kept of them elsewhere.

-- As the product said then; a later change of it is not theirs.
alter table booking
  add column refund_policy_days integer not null default 0 check (refund_policy_days >= 0),
  add column replay_access_days integer not null default 0 check (replay_access_days >= 0);
-- Those whose customers are to be reminded.
create index booking_unreminded on booking (starts_at) where status = 'CONFIRMED' and reminded_at is null;

-- Of a booking: whose revenue it is, and what codes it may be bought with.
alter table checkout add column product_id text;
create index checkout_booking on checkout (booking_id) where booking_id is not null;

-- A calendar entry that goes with a mail (RFC 5545), encrypted as its text is.
alter table mail add column calendar bytea;
