import * as rules from '../../src/features/commerce/subscriptions/rules.ts';
import { dateFromMs } from '../../src/kernel/clock.ts';

/** For tests of only the rules: a monthly subscription that was paid at its start. */

export const at = (text: string) => dateFromMs(Date.parse(text));
export const START = at('2026-01-31T10:00:00Z');
export const MONTHLY = { tierId: 'tier_a', priceCents: 500, interval: 'MONTH' } as const;

export function row(change: Partial<rules.SubscriptionRow> = {}): rules.SubscriptionRow {
  return {
    id: 'sub_1',
    workspace_id: 'wsp_1',
    customer_id: 'cus_1',
    checkout_id: null,
    pending_price_cents: null,
    pending_tier_id: null,
    pending_interval: null,
    migrated_price_cents: null,
    price_change_notified_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    ended_at: null,
    cancel_reason: null,
    purchase_id: 'pur_1',
    upgrades: [],
    payment_method: null,
    is_disputed: false,
    failed_attempts: 0,
    payment_id: null,
    charge_kind: null,
    charge_tier_id: null,
    charge_price_cents: null,
    charge_interval: null,
    charge_period_month: null,
    renewal_reminder_period: null,
    card_expiry_notified_for: null,
    discount_cents: 0,
    discount_code: null,
    client_reference_id: null,
    event_sequence: 1,
    created_at: START,
    updated_at: START,
    ...rules.begin(MONTHLY, { now: START, timezone: 'UTC', trialDays: 0 }),
    ...change,
  };
}
