-- A typed address proves nothing: what began without a card of its own asks before a saved card is charged
-- (docs/decisions/money.md#members). What runs already goes on as it began.
alter table subscription add column asks_before_charge boolean not null default false;
