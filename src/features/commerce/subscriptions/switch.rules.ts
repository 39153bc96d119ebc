import {
  begin,
  type Change,
  changed,
  NO_CHARGE,
  NO_PENDING,
  type Patch,
  type SubscriptionRow,
  type Terms,
  waiting,
  withCurrentTierPrice,
} from './rules.ts';
import { applyStep } from './transitions.rules.ts';

/**
 * `now`: the difference is charged first. `later`: at the end of the period. `stay`: the pending terms are
 * dropped.
 */
export type Switch = { when: 'now'; dueCents: number } | { when: 'later' } | { when: 'stay' };

/**
 * Determines when a switch takes effect: a more expensive tier with the same interval now, for the flat
 * difference and in the same period; all others with the next period (docs/concepts/subscriptions.md#switch).
 * A trial covers its own tier only: switching to a more expensive one ends it, and is charged in full.
 */
export function planSwitch(row: SubscriptionRow, to: Terms): Switch {
  if (to.tierId === row.tier_id) return { when: 'stay' };
  const isDearer = to.interval === row.interval && to.priceCents > row.price_cents;
  if (!isDearer) return { when: 'later' };
  return { when: 'now', dueCents: to.priceCents - (row.status === 'TRIALING' ? 0 : row.price_cents) };
}

/** Returns the patch while the difference is being charged. */
export function switching(to: Terms, paymentId: string): Patch {
  return {
    payment_id: paymentId,
    charge_kind: 'SWITCH',
    charge_tier_id: to.tierId,
    charge_price_cents: to.priceCents,
    charge_interval: to.interval,
    charge_period_month: null,
  };
}

/** Applies a paid switch: the more expensive tier begins, in the same period. */
export function switched(row: SubscriptionRow, to: Terms, purchaseId: string): Change | null {
  const by = applyStep(row.status, 'SWITCHED');
  if (by === null) return null;
  const upgrade = { purchaseId, tierId: row.tier_id, priceCents: row.price_cents };
  return changed(by, {
    ...NO_CHARGE,
    ...waiting(row, to),
    tier_id: to.tierId,
    price_cents: to.priceCents,
    upgrades: [...row.upgrades, upgrade],
  });
}

/**
 * Applies a switch during a trial: the more expensive tier is paid in full, the trial ends, and the first
 * period begins now.
 */
export function switchedInTrial(
  row: SubscriptionRow,
  to: Terms,
  purchaseId: string,
  now: Date,
): Change | null {
  const by = applyStep(row.status, 'PAID');
  if (by === null) return null;
  const { timezone } = row;
  const first = begin(to, { now, timezone, trialDays: 0 });
  return changed(by, {
    ...NO_CHARGE,
    ...waiting(row, to),
    ...first,
    trial_ends_at: now,
    purchase_id: purchaseId,
    discount_cents: 0,
  });
}

/**
 * The difference of an upgrade went back whole: tier and price are those before it, in the same period, and so are those
 * of the upgrades after it.
 *
 * @returns null where this purchase upgraded nothing; `dropped` are the purchases of the later upgrades.
 */
export function downgraded(
  row: SubscriptionRow,
  purchaseId: string,
): { change: Change; dropped: string[] } | null {
  const at = row.upgrades.findIndex((upgrade) => upgrade.purchaseId === purchaseId);
  const before = row.upgrades[at];
  const by = applyStep(row.status, 'UPGRADE_REVERSED');
  if (before === undefined || by === null) return null;
  const dropped = row.upgrades.slice(at + 1).map((upgrade) => upgrade.purchaseId);
  const change = changed(by, {
    ...(row.charge_kind === 'SWITCH' ? NO_CHARGE : {}),
    ...NO_PENDING,
    migrated_price_cents: null,
    tier_id: before.tierId,
    price_cents: before.priceCents,
    upgrades: row.upgrades.slice(0, at),
  });
  return { change, dropped };
}

/** Sets the tier of the next period; null keeps the current one. */
export function pendingSwitch(row: SubscriptionRow, to: Terms | null, now: Date): Change | null {
  const by = applyStep(row.status, 'SWITCHED');
  if (by === null) return null;
  const knowsOwn = row.migrated_price_cents === null || row.price_change_notified_at !== null;
  const pending = to && {
    pending_tier_id: to.tierId,
    pending_price_cents: to.priceCents,
    pending_interval: to.interval,
    // A member who selects a tier has seen its price, but not the current price of staying.
    price_change_notified_at: knowsOwn ? now : null,
  };
  return changed(by, pending ?? withCurrentTierPrice(row));
}
