-- A renewal that its member pays while they are there, as the bank wanted: it counts as no try.

alter table subscription
  drop constraint subscription_charge_kind_check,
  add constraint subscription_charge_kind_check check (charge_kind in ('RENEWAL', 'CONFIRMATION', 'SWITCH'));
