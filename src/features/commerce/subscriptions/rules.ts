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

/** What a step changes, and what is told of it. */
export interface Change {
  patch: Patch;
  told: SubscriptionEventName | null;
}

export function changed({ to, told }: Transition, patch: Patch): Change {
  return { patch: { ...patch, status: to }, told };
}

/** What a period is of, and costs. */
export interface Terms {
  tierId: string;
  priceCents: number;
  interval: SubscriptionInterval;
}

/** No charge is under way. */
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

/** Whoever stays in the present tier pays the price that its creator has set for its members meanwhile. */
export function withCurrentTierPrice({ migrated_price_cents: cents }: SubscriptionRow): Patch {
  return { ...NO_PENDING, pending_price_cents: cents };
}

/** The tier that was planned has no place: they stay, at the price that they were told of for that. */
export function onPlannedTierFull(row: SubscriptionRow): Patch {
  return {
    ...withCurrentTierPrice(row),
    price_change_notified_at: row.migrated_price_cents === null ? null : row.price_change_notified_at,
  };
}

/** Has something that comes next, or may come, a price that the member was not told of? Then nothing is charged yet. */
export function hasUnnotifiedPrice(row: SubscriptionRow): boolean {
  return row.pending_price_cents !== null && row.price_change_notified_at === null;
}

/** A trial ends at the wall time at which it began; the periods are counted from its end. */
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

/** Of the next period: what is pending, else as before. */
export function nextTerms(row: SubscriptionRow): Terms {
  return {
    tierId: row.pending_tier_id ?? row.tier_id,
    priceCents: row.pending_price_cents ?? row.price_cents,
    interval: row.pending_interval ?? row.interval,
  };
}

/** The period that the next charge pays for. */
export function nextPeriod(row: SubscriptionRow, now: Date): Period {
  const anchor = { anchorAt: row.anchor_at, timezone: row.timezone };
  return billingPeriodAt(anchor, nextTerms(row).interval, { month: row.next_period_month, now });
}

/** The renewal's key for the provider: nodes that charge at once, or again after a crash, charge once. */
export function renewalKey(row: SubscriptionRow, period: Period): string {
  return `${row.id}:${period.start.toISOString()}:${row.failed_attempts + 1}`;
}

export type DueAction = 'NONE' | 'END' | 'CHARGE' | 'RENEW_FREE';

/** What is to be done with a subscription that is due. */
export function dueAction(row: SubscriptionRow, now: Date): DueAction {
  const isDue = row.next_charge_at !== null && row.next_charge_at <= now;
  if (row.ended_at !== null || row.payment_id !== null || !isDue) return 'NONE';
  if (row.cancel_at_period_end) return 'END';
  // While a bank decides about the present period nothing more is taken.
  if (row.is_disputed || hasUnnotifiedPrice(row)) return 'NONE';
  return dueCents(row) === 0 ? 'RENEW_FREE' : 'CHARGE';
}

/** Card networks take no less. */
export const MIN_CHARGE_CENTS = 50;

/** What the next period costs: after a trial, less the discount of the first charge. */
export function dueCents(row: SubscriptionRow): number {
  const due = nextTerms(row).priceCents - row.discount_cents;
  return due < MIN_CHARGE_CENTS ? 0 : due;
}

/** May its member pay the renewal that was declined, being there? */
export function isConfirmable(row: SubscriptionRow): boolean {
  const isHeld = row.is_disputed || row.cancel_at_period_end || hasUnnotifiedPrice(row);
  return row.status === 'PAST_DUE' && !isHeld && dueCents(row) > 0;
}

/** A renewal is being charged. */
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

/** What waits for the period after the one of these terms, which were paid. */
export function waiting(row: SubscriptionRow, terms: Terms): Patch {
  const { charge_tier_id: tierId, charge_price_cents: cents } = row;
  // What members of the tier pay by now, where that was set while the charge was under way.
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

/** The next period begins: its charge has succeeded, or it costs nothing. */
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

/** Of a purchase: what was to be paid, and what was taken off before. */
interface Priced {
  amount_cents: number;
  discount_cents: number;
}

/** What the charge under way was for; null when there is none. The price is its purchase's: what is noted may be raised. */
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

/** The period that the charge under way pays for. */
export function chargedPeriod(row: SubscriptionRow): Period {
  const anchor = { anchorAt: row.anchor_at, timezone: row.timezone };
  const month = row.charge_period_month ?? row.next_period_month;
  const months = month + MONTHS[row.charge_interval ?? row.interval];
  return { month, start: monthsAfter(anchor, month), end: monthsAfter(anchor, months) };
}

/** Days after the end of the last period that was paid. */
export const RETRY_DAYS = [1, 3, 5, 7] as const;

/** A renewal was declined: it is tried again, until nothing is left to try. */
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

/** Where the ladder was missed, its steps do not follow at once. */
function nextTry(row: SubscriptionRow, retryDays: number, now: Date): Date {
  const planned = daysAfter(row.current_period_end, row.timezone, retryDays);
  return planned > now ? planned : daysAfter(now, row.timezone, 1);
}

/** The member did not pay, being there: it is tried again when it was to be anyway. */
export function onPaymentUnconfirmed(row: SubscriptionRow, now: Date): Patch {
  const retryDays = RETRY_DAYS[row.failed_attempts - 1] ?? RETRY_DAYS[0];
  return { ...NO_CHARGE, next_charge_at: nextTry(row, retryDays, now) };
}

function endedAt(now: Date) {
  return { ended_at: now, next_charge_at: null, cancel_at_period_end: false, ...NO_PENDING } satisfies Patch;
}

/** It is over. What is under way is left: when it succeeds nevertheless, it is given back. */
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

/** At the end of the period; one that has passed already (PAST_DUE) ends now. */
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

/** @returns null when nothing was to be canceled. */
export function resumed(row: SubscriptionRow): Change | null {
  const by = row.cancel_at_period_end ? applyStep(row.status, 'RESUMED') : null;
  const goesOn = { cancel_at_period_end: false, canceled_at: null, cancel_reason: null };
  return by && changed(by, { ...goesOn, ...withCurrentTierPrice(row) });
}

const REMINDER_DAYS = 7;

/** Is the reminder of a yearly renewal due, once for each period? */
export function remindsOfRenewal(row: SubscriptionRow, now: Date): boolean {
  if (row.interval !== 'YEAR' || row.ended_at !== null || row.cancel_at_period_end) return false;
  if (row.status === 'PAST_DUE' || row.renewal_reminder_period === row.next_period_month) return false;
  const from = daysAfter(row.current_period_end, row.timezone, -REMINDER_DAYS);
  return now >= from && now < row.current_period_end;
}
