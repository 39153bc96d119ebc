-- A payment method belongs to the subscription that it was given for (docs/decisions/money.md#members). subscription.asks_before_charge
-- and subscription.upgrade_purchase_id are no longer read; they stay until no node of an older version writes them.
alter table subscription
  add column payment_method jsonb,
  -- Upgrades that were paid in the present period, the oldest first, each with the tier and price before it.
  add column upgrades jsonb not null default '[]';
-- The method that a charge uses, and the one that was given with it.
alter table payment
  add column payment_method jsonb,
  -- The provider is not asked about the payment again before.
  add column next_ask_at timestamptz;

-- The customer's card is a subscription's own only where history proves it: it came with the last payment of that subscription that
-- saved a card, or the customer has never had another subscription. All others ask their member at the next charge.
update subscription s
set payment_method = jsonb_build_object('provider', c.provider, 'customerRef', c.provider_ref, 'methodRef', c.method_ref,
  'brand', c.card_brand, 'last4', c.card_last4, 'expMonth', c.card_exp_month, 'expYear', c.card_exp_year)
from customer c
where c.id = s.customer_id and s.ended_at is null and not s.asks_before_charge
  and num_nulls(c.provider, c.provider_ref, c.method_ref, c.card_brand, c.card_last4, c.card_exp_month, c.card_exp_year) = 0
  and s.id = coalesce(
    (select p.subscription_id from purchase p join payment y on y.purchase_id = p.id
      where p.customer_id = c.id and p.kind = 'SUBSCRIPTION' and y.type = 'CHARGE' and y.status = 'SUCCEEDED'
        and y.request @> '{"saveMethod": true}'
      order by y.settled_at desc, y.id desc limit 1),
    (select min(o.id) from subscription o where o.customer_id = c.id having count(*) = 1));

update subscription s
set upgrades = jsonb_build_array(jsonb_build_object('purchaseId', u.id, 'priceCents', greatest(s.price_cents - u.amount_cents, 0),
  'tierId', coalesce(
    (select p.tier_id from purchase p where p.subscription_id = s.id and p.paid_at < u.paid_at order by p.paid_at desc limit 1),
    (select c.tier_id from checkout c where c.id = s.checkout_id),
    s.tier_id)))
from purchase u
where u.id = s.upgrade_purchase_id and s.ended_at is null;
