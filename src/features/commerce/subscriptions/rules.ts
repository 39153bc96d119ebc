import type { Selectable } from 'kysely';
import { billingPeriodAt, daysAfter, MONTHS, monthsAfter, type Period } from '../../../kernel/periods.ts';
import type {
  SubscriptionCancelReason,
  SubscriptionInterval,
  SubscriptionTable,
} from '../../../platform/db/tables.generated.ts';
import { applyStep, type SubscriptionEventName, type Transition } from './transitions.rules.ts';

export type SubscriptionRow = Selectable<SubscriptionTable>;
export type Patch = Partial<SubscriptionRow>;

/** Change of a row by a step, and its event. */
export interface Change {
  patch: Patch;
  told: SubscriptionEventName | null;
}

export function changed({ to, told: event }: Transition, patch: Patch): Change {
  return { patch: { ...patch, status: to }, told: event };
}

/** Tier, price and interval of a period. */
export interface Terms {
  tierId: string;
  priceCents: number;
  interval: SubscriptionInterval;
}

/** Patch without a pending charge. */
export const NO_CHARGE = {
  payment_id: null,
  charge_kind: null,
  charge_tier_id: null,
  charge_price_cents: null,
  charge_interval: null,
  charge_period_month: null,
} satisfies Patch;
/** Upgrades belong to the period in which they were paid. */
const NO_UPGRADES: SubscriptionRow['upgrades'] = [];
export const NO_PENDING = {
  pending_tier_id: null,
  pending_price_cents: null,
  pending_interval: null,
  price_change_notified_at: null,
} satisfies Patch;

/** Returns the patch for a member who stays in the current tier, at the price migrated in the interim. */
export function withCurrentTierPrice({ migrated_price_cents: cents }: SubscriptionRow): Patch {
  return { ...NO_PENDING, pending_price_cents: cents };
}

/** Returns the patch for a full planned tier: the member stays, at the price announced for that case. */
export function onPlannedTierFull(row: SubscriptionRow): Patch {
  return {
    ...withCurrentTierPrice(row),
    price_change_notified_at: row.migrated_price_cents === null ? null : row.price_change_notified_at,
  };
}

/**
 * Reports whether the pending or possible next terms have a price that the member was not notified of.
 * Nothing is charged then.
 */
export function hasUnnotifiedPrice(row: SubscriptionRow): boolean {
  return row.pending_price_cents !== null && row.price_change_notified_at === null;
}

/**
 * Begins a subscription. A trial ends at the wall time at which it began; the periods are counted from its
 * end.
 */
export function begin(
  { interval, priceCents, tierId }: Terms,
  { now, timezone, trialDays }: { now: Date; timezone: string; trialDays: number },
) {
  const isTrial = trialDays > 0;
  const anchorAt = isTrial ? daysAfter(now, timezone, trialDays) : now;
  const nextMonth = isTrial ? 0 : MONTHS[interval];
  const end = monthsAfter({ anchorAt, timezone }, nextMonth);
  return {
    status: isTrial ? ('TRIALING' as const) : ('ACTIVE' as const),
    tier_id: tierId,
    price_cents: priceCents,
    interval,
    anchor_at: anchorAt,
    timezone,
    next_period_month: nextMonth,
    current_period_start: now,
    current_period_end: end,
    trial_ends_at: isTrial ? end : null,
    next_charge_at: end,
  };
}

/** Returns the terms of the next period: the pending ones, otherwise the current ones. */
export function nextTerms(row: SubscriptionRow): Terms {
  return {
    tierId: row.pending_tier_id ?? row.tier_id,
    priceCents: row.pending_price_cents ?? row.price_cents,
    interval: row.pending_interval ?? row.interval,
  };
}

/** Returns the period that the next charge pays for. */
export function nextPeriod(row: SubscriptionRow, now: Date): Period {
  const anchor = { anchorAt: row.anchor_at, timezone: row.timezone };
  return billingPeriodAt(anchor, nextTerms(row).interval, { month: row.next_period_month, now });
}

/** Returns the provider key of the renewal: concurrent nodes, or a retry after a crash, charge once. */
export function renewalKey(row: SubscriptionRow, period: Period): string {
  return `${row.id}:${period.start.toISOString()}:${row.failed_attempts + 1}`;
}

export type DueAction = 'NONE' | 'END' | 'CHARGE' | 'RENEW_FREE';

/** Returns the action for a subscription that is due. */
export function dueAction(row: SubscriptionRow, now: Date): DueAction {
  const isDue = row.next_charge_at !== null && row.next_charge_at <= now;
  if (row.ended_at !== null || row.payment_id !== null || !isDue) return 'NONE';
  if (row.cancel_at_period_end) return 'END';
  // While a bank decides about the current period, nothing more is charged.
  if (row.is_disputed || hasUnnotifiedPrice(row)) return 'NONE';
  return dueCents(row) === 0 ? 'RENEW_FREE' : 'CHARGE';
}

/** Minimum charge of the card networks. */
export const MIN_CHARGE_CENTS = 50;

/** Returns the amount due for the next period: after a trial, less the discount of the first charge. */
export function dueCents(row: SubscriptionRow): number {
  const due = nextTerms(row).priceCents - row.discount_cents;
  return due < MIN_CHARGE_CENTS ? 0 : due;
}

/** Reports whether the member may pay the declined renewal on the member page. */
export function isConfirmable(row: SubscriptionRow): boolean {
  const isHeld = row.is_disputed || row.cancel_at_period_end || hasUnnotifiedPrice(row);
  return row.status === 'PAST_DUE' && !isHeld && dueCents(row) > 0;
}

/** Returns the patch of a renewal that is being charged. */
export function startRenewal(
  row: SubscriptionRow,
  period: Period,
  charge: { paymentId: string; kind: 'RENEWAL' | 'CONFIRMATION' },
): Patch {
  const { tierId, priceCents, interval } = nextTerms(row);
  return {
    payment_id: charge.paymentId,
    charge_kind: charge.kind,
    charge_tier_id: tierId,
    charge_price_cents: priceCents,
    charge_interval: interval,
    charge_period_month: period.month,
    next_charge_at: null,
  };
}

/** Returns the pending terms that remain after a period with these terms was paid. */
export function waiting(row: SubscriptionRow, terms: Terms): Patch {
  const { charge_tier_id: tierId, charge_price_cents: cents } = row;
  // Price of the tier's members, where it was set while the charge was pending.
  const migrated = tierId === terms.tierId && cents !== terms.priceCents ? cents : null;
  const pending = { pending_price_cents: row.cancel_at_period_end ? null : migrated };
  if (terms.tierId !== row.tier_id) return { ...NO_PENDING, ...pending, migrated_price_cents: migrated };
  const isPlanned = (row.pending_tier_id ?? row.tier_id) === terms.tierId;
  if (migrated !== null) {
    const isKnown = row.pending_price_cents === migrated;
    return {
      ...(isPlanned && !isKnown ? { ...NO_PENDING, ...pending } : {}),
      migrated_price_cents: migrated,
    };
  }
  const isAsPending = isPlanned && row.pending_price_cents === terms.priceCents;
  const isMigrated = row.migrated_price_cents === terms.priceCents;
  return { ...(isAsPending ? NO_PENDING : {}), ...(isMigrated ? { migrated_price_cents: null } : {}) };
}

/** Begins the next period: its charge has succeeded, or it is free. */
export function completeRenewal(
  row: SubscriptionRow,
  period: Period,
  terms: Terms,
  purchaseId: string | null,
) {
  const by = applyStep(row.status, 'PAID');
  if (by === null) return null;
  return changed(by, {
    ...NO_CHARGE,
    ...waiting(row, terms),
    tier_id: terms.tierId,
    price_cents: terms.priceCents,
    interval: terms.interval,
    next_period_month: period.month + MONTHS[terms.interval],
    current_period_start: period.start,
    current_period_end: period.end,
    purchase_id: purchaseId,
    upgrades: NO_UPGRADES,
    is_disputed: false,
    failed_attempts: 0,
    discount_cents: 0,
    next_charge_at: period.end,
  });
}

/** Amount of a purchase, and the discount already taken off. */
interface Priced {
  amount_cents: number;
  discount_cents: number;
}

/**
 * Returns the terms of the pending charge; null when there is none. The price is that of its purchase, since
 * the noted one may have been raised.
 */
export function chargedTerms(
  row: SubscriptionRow,
  { amount_cents: amount, discount_cents: discount }: Priced,
): Terms | null {
  const { charge_tier_id: tierId, charge_interval: interval } = row;
  if (tierId === null || interval === null) return null;
  // A switch is charged with the difference; one that ends a trial, with the whole price.
  const had = row.charge_kind === 'SWITCH' && row.status !== 'TRIALING' ? row.price_cents : 0;
  return { tierId, priceCents: had + amount + discount, interval };
}

/** Returns the period that the pending charge pays for. */
export function chargedPeriod(row: SubscriptionRow): Period {
  const anchor = { anchorAt: row.anchor_at, timezone: row.timezone };
  const month = row.charge_period_month ?? row.next_period_month;
  const months = month + MONTHS[row.charge_interval ?? row.interval];
  return { month, start: monthsAfter(anchor, month), end: monthsAfter(anchor, months) };
}

/** Days after the end of the last period that was paid. */
export const RETRY_DAYS = [1, 3, 5, 7] as const;

/** Handles a declined renewal: it is retried until no tries are left. */
export function onPaymentDeclined(row: SubscriptionRow, now: Date): Change | null {
  const isFirst = row.failed_attempts === 0;
  const retryDays = RETRY_DAYS[row.failed_attempts];
  if (row.cancel_at_period_end) return ended(row, 'PERIOD_ENDED', 'MEMBER_CANCELED', now);
  if (retryDays === undefined) {
    const by = applyStep(row.status, 'GAVE_UP');
    return by && changed(by, { ...endedAt(now), ...NO_CHARGE, cancel_reason: 'PAYMENT_FAILED' });
  }
  const by = applyStep(row.status, 'DECLINED');
  if (by === null) return null;
  return changed(isFirst ? by : { ...by, told: null }, {
    ...NO_CHARGE,
    failed_attempts: row.failed_attempts + 1,
    next_charge_at: nextTry(row, retryDays, now),
  });
}

/** Returns the time of the next try. Missed tries do not follow immediately. */
function nextTry(row: SubscriptionRow, retryDays: number, now: Date): Date {
  const planned = daysAfter(row.current_period_end, row.timezone, retryDays);
  return planned > now ? planned : daysAfter(now, row.timezone, 1);
}

/** Handles a payment that the present member did not complete: the next regular try stays. */
export function onPaymentUnconfirmed(row: SubscriptionRow, now: Date): Patch {
  const retryDays = RETRY_DAYS[row.failed_attempts - 1] ?? RETRY_DAYS[0];
  return { ...NO_CHARGE, next_charge_at: nextTry(row, retryDays, now) };
}

function endedAt(now: Date) {
  return { ended_at: now, next_charge_at: null, cancel_at_period_end: false, ...NO_PENDING } satisfies Patch;
}

/** Ends a subscription. A pending charge continues: if it succeeds, it is refunded. */
export function ended(
  row: SubscriptionRow,
  step: 'PERIOD_ENDED' | 'ENDED',
  reason: SubscriptionCancelReason,
  now: Date,
): Change | null {
  const by = applyStep(row.status, step);
  if (by === null) return null;
  const canceled = { canceled_at: row.canceled_at ?? now, cancel_reason: row.cancel_reason ?? reason };
  return changed(by, { ...endedAt(now), ...NO_CHARGE, ...canceled });
}

/** Cancels at the end of the period; one that has passed already (PAST_DUE) ends now. */
export function cancelAtPeriodEnd(
  row: SubscriptionRow,
  reason: SubscriptionCancelReason,
  now: Date,
): Change | null {
  const by = applyStep(row.status, 'CANCEL_SCHEDULED');
  if (by === null) return ended(row, 'ENDED', reason, now);
  return changed(by, {
    cancel_at_period_end: true,
    canceled_at: now,
    cancel_reason: reason,
    ...NO_PENDING,
  });
}

/** @returns null when no cancellation was planned. */
export function resumed(row: SubscriptionRow): Change | null {
  const by = row.cancel_at_period_end ? applyStep(row.status, 'RESUMED') : null;
  const goesOn = { cancel_at_period_end: false, canceled_at: null, cancel_reason: null };
  return by && changed(by, { ...goesOn, ...withCurrentTierPrice(row) });
}

const REMINDER_DAYS = 7;

/** Reports whether the reminder of a yearly renewal is due, once per period. */
export function remindsOfRenewal(row: SubscriptionRow, now: Date): boolean {
  if (row.interval !== 'YEAR' || row.ended_at !== null || row.cancel_at_period_end) return false;
  if (row.status === 'PAST_DUE' || row.renewal_reminder_period === row.next_period_month) return false;
  const from = daysAfter(row.current_period_end, row.timezone, -REMINDER_DAYS);
  return now >= from && now < row.current_period_end;
}
