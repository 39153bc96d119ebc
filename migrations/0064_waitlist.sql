-- Who waits: one line for each product, what is offered to somebody, and whether it is kept for them.

alter table waitlist_entry
  -- Links are signed, and stored nowhere.
  drop column offer_hash,
  -- The order of joining; under the lock of the product.
  add column turn bigint generated always as identity,
  -- What was offered: who named no cohort and no time takes any.
  add column offered_cohort_id text references cohort (id) on delete cascade,
  add column offered_starts_at timestamptz,
  -- The class in which a seat is claimed for an offer.
  add column occurrence_id text references class_occurrence (id),
  -- A seat or a time is kept for it just now; not any more once it is booked.
  add column keeps_place boolean not null default false,
  add check (keeps_place <= (status = 'OFFERED'));
drop index waitlist_entry_waiting;
create index waitlist_entry_waiting on waitlist_entry (product_id, turn) where status = 'WAITING';
