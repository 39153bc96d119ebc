-- What the built-in provider keeps of a payment beside its amount, and how customers are found by their address.

alter table sandbox_payment
  add column return_url text,
  add column description text not null default '',
  -- The card as it is kept for later charges.
  add column card_ref text references sandbox_card (ref),
  -- Nothing: it was called off before it was asked for.
  drop constraint sandbox_payment_amount_cents_check,
  add constraint sandbox_payment_amount_cents_check check (amount_cents >= 0);
alter table sandbox_card
  add column customer_id text not null,
  add column key text not null unique;

create index customer_email on customer (email);
