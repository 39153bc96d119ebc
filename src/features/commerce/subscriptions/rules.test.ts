import assert from 'node:assert/strict';
import { test } from 'node:test';
import { at, MONTHLY, row, START } from '../../../../test/money/subscription-row.ts';
import { ZONES } from '../../../../test/money/zones.ts';
import { billingPeriodAt, daysAfter, monthsAfter } from '../../../kernel/periods.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import * as rules from './rules.ts';
import * as switches from './switch.rules.ts';
import * as moves from './transitions.rules.ts';

const isoDay = (date: Date) => date.toISOString().slice(0, 10);

test('a period retains the day of its anchor, and a short month uses its last day', () => {
  const anchor = { anchorAt: START, timezone: 'UTC' };
  const days = [1, 2, 3, 13, 25, 37].map((months) => isoDay(monthsAfter(anchor, months)));
  assert.deepEqual(days, [
    '2026-02-28',
    '2026-03-31',
    '2026-04-30',
    '2027-02-28',
    '2028-02-29',
    '2029-02-28',
  ]);
  const leap = { anchorAt: at('2028-02-29T12:00:00Z'), timezone: 'UTC' };
  assert.deepEqual(
    [12, 48].map((months) => isoDay(monthsAfter(leap, months))),
    ['2029-02-28', '2032-02-29'],
  );
});

test('the wall time is stable across clock changes, and a missing time moves to after the gap', () => {
  const berlin = { anchorAt: at('2026-02-28T08:00:00Z'), timezone: 'Europe/Berlin' };
  assert.equal(monthsAfter(berlin, 1).toISOString(), '2026-03-28T08:00:00.000Z');
  assert.equal(monthsAfter(berlin, 2).toISOString(), '2026-04-28T07:00:00.000Z');
  const inGap = { anchorAt: at('2026-02-28T01:30:00Z'), timezone: 'Europe/Berlin' };
  assert.equal(daysAfter(inGap.anchorAt, inGap.timezone, 29).toISOString(), '2026-03-29T01:30:00.000Z');
});

test('periods that have passed entirely are skipped', () => {
  const anchor = { anchorAt: START, timezone: 'UTC' };
  const next = billingPeriodAt(anchor, 'MONTH', { month: 1, now: at('2026-02-28T10:00:00Z') });
  assert.deepEqual([next.month, isoDay(next.start), isoDay(next.end)], [1, '2026-02-28', '2026-03-31']);
  const later = billingPeriodAt(anchor, 'MONTH', { month: 1, now: at('2026-05-31T10:00:00Z') });
  assert.deepEqual([later.month, isoDay(later.start), isoDay(later.end)], [4, '2026-05-31', '2026-06-30']);
});

/** State, step, next state and event; combinations that are not listed do not apply. */
const MOVES: readonly [string, moves.Step, string, string | null][] = [
  ['TRIALING', 'PAID', 'ACTIVE', 'activated'],
  ['ACTIVE', 'PAID', 'ACTIVE', 'renewed'],
  ['PAST_DUE', 'PAID', 'ACTIVE', 'recovered'],
  ['TRIALING', 'DECLINED', 'PAST_DUE', 'payment_failed'],
  ['ACTIVE', 'DECLINED', 'PAST_DUE', 'payment_failed'],
  ['PAST_DUE', 'DECLINED', 'PAST_DUE', null],
  ['PAST_DUE', 'GAVE_UP', 'EXPIRED', 'expired'],
  ['TRIALING', 'CANCEL_SCHEDULED', 'TRIALING', 'cancel_scheduled'],
  ['ACTIVE', 'CANCEL_SCHEDULED', 'ACTIVE', 'cancel_scheduled'],
  ['TRIALING', 'RESUMED', 'TRIALING', 'resumed'],
  ['ACTIVE', 'RESUMED', 'ACTIVE', 'resumed'],
  ['PAST_DUE', 'RESUMED', 'PAST_DUE', 'resumed'],
  ['TRIALING', 'PERIOD_ENDED', 'CANCELED', 'canceled'],
  ['ACTIVE', 'PERIOD_ENDED', 'CANCELED', 'canceled'],
  ['PAST_DUE', 'PERIOD_ENDED', 'CANCELED', 'canceled'],
  ['TRIALING', 'ENDED', 'CANCELED', 'canceled'],
  ['ACTIVE', 'ENDED', 'CANCELED', 'canceled'],
  ['PAST_DUE', 'ENDED', 'CANCELED', 'canceled'],
  ['TRIALING', 'SWITCHED', 'TRIALING', 'updated'],
  ['ACTIVE', 'SWITCHED', 'ACTIVE', 'updated'],
  ['ACTIVE', 'UPGRADE_REVERSED', 'ACTIVE', 'updated'],
  ['PAST_DUE', 'UPGRADE_REVERSED', 'PAST_DUE', 'updated'],
];

test('every step from every state has the listed result', () => {
  for (const step of moves.STEPS) {
    for (const status of VALUES.subscription.status) {
      const known = MOVES.find(([from, by]) => from === status && by === step);
      const expected = known === undefined ? null : { to: known[2], told: known[3] };
      assert.deepEqual(moves.applyStep(status, step), expected, `${status} ${step}`);
    }
  }
});

test('a subscription begins with a period, or with a trial from whose end the periods are counted', () => {
  const paid = row();
  assert.equal(paid.status, 'ACTIVE');
  assert.equal(isoDay(paid.current_period_end), '2026-02-28');
  assert.equal(paid.next_charge_at, paid.current_period_end);
  const trial = row(rules.begin(MONTHLY, { now: START, timezone: 'UTC', trialDays: 28 }));
  assert.equal(trial.status, 'TRIALING');
  assert.equal(isoDay(trial.current_period_end), '2026-02-28');
  const first = rules.nextPeriod(trial, trial.current_period_end);
  assert.deepEqual([isoDay(first.start), isoDay(first.end)], ['2026-02-28', '2026-03-28']);
});

test('a renewal begins the next period where the last one ended, however late it is paid', () => {
  let now = at('2026-02-28T10:00:00Z');
  let subscription = row();
  const failure = rules.onPaymentDeclined(subscription, now);
  assert.equal(failure?.told, 'payment_failed');
  subscription = row({ ...failure?.patch });
  now = at('2026-03-03T10:00:00Z');
  const paid = rules.completeRenewal(subscription, rules.nextPeriod(subscription, now), MONTHLY, 'pur_2');
  assert.equal(paid?.told, 'recovered');
  assert.equal(paid?.patch.current_period_start?.toISOString(), '2026-02-28T10:00:00.000Z');
  assert.equal(paid?.patch.current_period_end?.toISOString(), '2026-03-31T10:00:00.000Z');
  assert.equal(paid?.patch.failed_attempts, 0);
});

test('a declined renewal is retried on days 1, 3, 5 and 7, and then the subscription ends', () => {
  let subscription = row();
  let now = subscription.current_period_end;
  const days: (string | undefined)[] = [];
  for (let tries = 0; tries < 4; tries++) {
    const change = rules.onPaymentDeclined(subscription, now);
    subscription = row({ ...subscription, ...change?.patch });
    now = subscription.next_charge_at ?? now;
    days.push(isoDay(now));
  }
  assert.deepEqual(days, ['2026-03-01', '2026-03-03', '2026-03-05', '2026-03-07']);
  const last = rules.onPaymentDeclined(subscription, now);
  assert.equal(last?.told, 'expired');
  assert.equal(last?.patch.status, 'EXPIRED');
  assert.equal(last?.patch.ended_at, now);
  assert.equal(last?.patch.cancel_reason, 'PAYMENT_FAILED');
});

test('missed retries do not follow immediately', () => {
  const now = at('2026-03-20T10:00:00Z');
  const change = rules.onPaymentDeclined(row(), now);
  assert.equal(change?.patch.next_charge_at?.toISOString(), '2026-03-21T10:00:00.000Z');
});

test('a member who did not pay while present has not lost a try', () => {
  const now = row().current_period_end;
  const failed = row({ ...rules.onPaymentDeclined(row(), now)?.patch });
  assert.ok(rules.isConfirmable(failed) && !rules.isConfirmable(row()));
  assert.ok(!rules.isConfirmable({ ...failed, is_disputed: true }));
  assert.ok(!rules.isConfirmable({ ...failed, pending_price_cents: 700 }), 'nor at an untold price');
  const period = rules.nextPeriod(failed, now);
  const asked = rules.startRenewal(failed, period, { paymentId: 'pay_1', kind: 'CONFIRMATION' });
  const after = row({ ...failed, ...asked, ...rules.onPaymentUnconfirmed(failed, now) });
  assert.deepEqual(after, failed);
});

test('a due subscription is charged, renewed without a charge, ended, or left unchanged', () => {
  const due = row().current_period_end;
  const cases: [rules.DueAction, Partial<rules.SubscriptionRow>][] = [
    ['CHARGE', {}],
    ['RENEW_FREE', { price_cents: 0 }],
    ['CHARGE', { price_cents: 0, pending_price_cents: 500, price_change_notified_at: START }],
    ['NONE', { pending_price_cents: 700 }],
    ['END', { pending_price_cents: 700, cancel_at_period_end: true }],
    ['END', { cancel_at_period_end: true }],
    ['END', { cancel_at_period_end: true, is_disputed: true }],
    ['NONE', { is_disputed: true }],
    ['NONE', { payment_id: 'pay_1' }],
    ['NONE', { ended_at: START }],
    ['NONE', { next_charge_at: null }],
  ];
  for (const [expected, change] of cases) assert.equal(rules.dueAction(row(change), due), expected);
  assert.equal(rules.dueAction(row(), START), 'NONE');
});

test('a cancellation at the end of the period can be resumed', () => {
  const scheduled = rules.cancelAtPeriodEnd(row(), 'MEMBER_CANCELED', START);
  assert.equal(scheduled?.told, 'cancel_scheduled');
  const flagged = row({ ...scheduled?.patch });
  assert.equal(flagged.status, 'ACTIVE');
  assert.equal(flagged.cancel_reason, 'MEMBER_CANCELED');
  const back = rules.resumed(flagged);
  assert.deepEqual(back?.patch, {
    status: 'ACTIVE',
    cancel_at_period_end: false,
    canceled_at: null,
    cancel_reason: null,
    ...rules.NO_PENDING,
  });
  assert.equal(rules.resumed(row()), null);
  const over = rules.ended(flagged, 'PERIOD_ENDED', 'MEMBER_CANCELED', flagged.current_period_end);
  assert.equal(over?.patch.status, 'CANCELED');
  assert.equal(over?.patch.canceled_at, START);
  const pastDue = rules.cancelAtPeriodEnd(row({ status: 'PAST_DUE' }), 'MEMBER_CANCELED', START);
  assert.equal(pastDue?.patch.status, 'CANCELED');
});

test('a switch is immediate for the difference, later, or a step back', () => {
  const to = (tierId: string, priceCents: number, interval: 'MONTH' | 'YEAR') => ({
    tierId,
    priceCents,
    interval,
  });
  const cases: [switches.Switch, rules.Terms, Partial<rules.SubscriptionRow>][] = [
    [{ when: 'now', dueCents: 400 }, to('tier_b', 900, 'MONTH'), {}],
    [{ when: 'now', dueCents: 900 }, to('tier_b', 900, 'MONTH'), { status: 'TRIALING' }],
    [{ when: 'later' }, to('tier_b', 9000, 'YEAR'), { status: 'TRIALING' }],
    [{ when: 'later' }, to('tier_b', 300, 'MONTH'), {}],
    [{ when: 'later' }, to('tier_b', 500, 'MONTH'), {}],
    [{ when: 'later' }, to('tier_b', 9000, 'YEAR'), {}],
    [{ when: 'stay' }, to('tier_a', 500, 'MONTH'), { pending_tier_id: 'tier_b' }],
  ];
  for (const [expected, terms, change] of cases) {
    assert.deepEqual(switches.planSwitch(row(change), terms), expected);
  }
});

test('a switch from months to years retains the day', () => {
  const year = { tierId: 'tier_b', priceCents: 5000, interval: 'YEAR' } as const;
  const planned = switches.pendingSwitch(row(), year, START);
  const subscription = row({ ...planned?.patch });
  assert.equal(subscription.tier_id, 'tier_a');
  const now = subscription.current_period_end;
  const period = rules.nextPeriod(subscription, now);
  assert.deepEqual([isoDay(period.start), isoDay(period.end)], ['2026-02-28', '2027-02-28']);
  const after = row({ ...rules.completeRenewal(subscription, period, year, 'pur_2')?.patch });
  assert.equal(after.tier_id, 'tier_b');
  assert.equal(after.pending_tier_id, null);
  const month = row({ ...after, ...switches.pendingSwitch(after, MONTHLY, now)?.patch });
  const back = rules.nextPeriod(month, month.current_period_end);
  assert.deepEqual([isoDay(back.start), isoDay(back.end)], ['2027-02-28', '2027-03-31']);
});

test('a member who decides to stay pays the price that was migrated in the interim', () => {
  const told = { pending_price_cents: 700, migrated_price_cents: 700, price_change_notified_at: START };
  const canceled = row({ ...told, ...rules.cancelAtPeriodEnd(row(told), 'MEMBER_CANCELED', START)?.patch });
  const planned = { tierId: 'tier_b', priceCents: 300, interval: 'MONTH' } as const;
  const leaving = row({ ...told, ...switches.pendingSwitch(row(told), planned, START)?.patch });
  assert.deepEqual([canceled.pending_price_cents, leaving.pending_price_cents], [null, 300]);
  const again = [rules.resumed(canceled), switches.pendingSwitch(leaving, null, START)];
  for (const change of again) {
    assert.equal(change?.patch.pending_price_cents, 700);
    assert.equal(change?.patch.price_change_notified_at, null, 'and is told of it once more');
  }
  const due = row(told);
  const period = rules.nextPeriod(due, due.current_period_end);
  const renewed = rules.completeRenewal(due, period, rules.nextTerms(due), 'pur_2');
  assert.deepEqual([renewed?.patch.price_cents, renewed?.patch.migrated_price_cents], [700, null]);
});

test('a price that changes while a renewal is charged waits for the following one', () => {
  const due = row();
  const period = rules.nextPeriod(due, due.current_period_end);
  const underWay = row({
    ...rules.startRenewal(due, period, { paymentId: 'pay_1', kind: 'RENEWAL' }),
    pending_price_cents: 700,
  });
  const terms = rules.chargedTerms(underWay, { amount_cents: 500, discount_cents: 0 });
  assert.deepEqual(terms, MONTHLY);
  const after = rules.completeRenewal(underWay, rules.chargedPeriod(underWay), terms ?? MONTHLY, 'pur_2');
  assert.equal(after?.patch.price_cents, 500);
  assert.equal(after?.patch.pending_price_cents, undefined);
});

test("a full planned tier leaves the member at the current tier's price without a second notification", () => {
  const planned = { pending_tier_id: 'tier_b', pending_price_cents: 300, price_change_notified_at: START };
  const raised = rules.onPlannedTierFull(row({ ...planned, migrated_price_cents: 700 }));
  assert.deepEqual([raised.pending_price_cents, raised.price_change_notified_at], [700, START]);
  assert.deepEqual(rules.onPlannedTierFull(row(planned)), rules.NO_PENDING);
});

test('a member who plans a switch before being notified of the price of staying is still notified', () => {
  const planned = { tierId: 'tier_b', priceCents: 300, interval: 'MONTH' } as const;
  const untold = row({ pending_price_cents: 700, migrated_price_cents: 700 });
  const cases = [row(), untold, { ...untold, price_change_notified_at: START }];
  const told = cases.map(
    (before) => switches.pendingSwitch(before, planned, START)?.patch.price_change_notified_at,
  );
  assert.deepEqual(told, [START, null, START]);
});

test('the charged terms are paid, and a price raised in the interim waits', () => {
  const to = { tierId: 'tier_b', priceCents: 900, interval: 'MONTH' } as const;
  const own = { pending_price_cents: 600, migrated_price_cents: 600 };
  const charged = { ...switches.switching(to, 'pay_1'), charge_price_cents: 1500 };
  const underWay = row({ ...own, ...charged });
  const terms = rules.chargedTerms(underWay, { amount_cents: 400, discount_cents: 0 });
  assert.deepEqual(terms, to);
  const after = row({ ...underWay, ...switches.switched(underWay, to, 'pur_2')?.patch });
  assert.deepEqual(
    [after.price_cents, after.pending_price_cents, after.migrated_price_cents],
    [900, 1500, 1500],
  );
  const leaving = switches.switched({ ...underWay, cancel_at_period_end: true }, to, 'pur_2');
  assert.equal(leaving?.patch.pending_price_cents, null);
  assert.equal(
    rules.resumed(row({ ...leaving?.patch, cancel_at_period_end: true }))?.patch.pending_price_cents,
    1500,
  );

  const renewal = row({
    ...{
      pending_tier_id: 'tier_b',
      pending_price_cents: 1500,
      pending_interval: 'MONTH',
      discount_cents: 100,
    },
    ...{ ...charged, charge_kind: 'RENEWAL', charge_period_month: 1 },
  });
  const paid = rules.chargedTerms(renewal, { amount_cents: 800, discount_cents: 100 });
  assert.deepEqual(paid, to);
  const next = rules.completeRenewal(renewal, rules.chargedPeriod(renewal), to, 'pur_2')?.patch;
  assert.deepEqual(
    [next?.price_cents, next?.pending_tier_id, next?.pending_price_cents, next?.migrated_price_cents],
    [900, null, 1500, 1500],
  );
});

test('a price that was lowered again while it was charged applies from the next period', () => {
  const charged = { charge_tier_id: 'tier_a', charge_interval: 'MONTH', charge_period_month: 1 } as const;
  const renewal = row({ ...charged, charge_kind: 'RENEWAL', charge_price_cents: 500 });
  const paid = rules.chargedTerms(renewal, { amount_cents: 900, discount_cents: 0 });
  assert.ok(paid !== null);
  const next = rules.completeRenewal(renewal, rules.chargedPeriod(renewal), paid, 'pur_2')?.patch;
  assert.deepEqual(
    [
      next?.price_cents,
      next?.pending_price_cents,
      next?.migrated_price_cents,
      next?.price_change_notified_at,
    ],
    [900, 500, 500, null],
  );
});

test('the key of a renewal names subscription, period and attempt', () => {
  const subscription = row({ failed_attempts: 2 });
  const period = rules.nextPeriod(subscription, subscription.current_period_end);
  assert.equal(rules.renewalKey(subscription, period), 'sub_1:2026-02-28T10:00:00.000Z:3');
});

test('a yearly renewal is announced once, seven days before', () => {
  const year = { tierId: 'tier_a', priceCents: 5000, interval: 'YEAR' } as const;
  const subscription = row(rules.begin(year, { now: START, timezone: 'UTC', trialDays: 0 }));
  assert.equal(rules.remindsOfRenewal(subscription, at('2027-01-24T09:59:59Z')), false);
  assert.equal(rules.remindsOfRenewal(subscription, at('2027-01-24T10:00:00Z')), true);
  const reminded = { ...subscription, renewal_reminder_period: subscription.next_period_month };
  assert.equal(rules.remindsOfRenewal(reminded, at('2027-01-25T10:00:00Z')), false);
  const canceled = { ...subscription, cancel_at_period_end: true };
  assert.equal(rules.remindsOfRenewal(canceled, at('2027-01-25T10:00:00Z')), false);
  assert.equal(rules.remindsOfRenewal(row(), row().current_period_end), false);
});

for (const timezone of ZONES) {
  test(`periods over five years of a monthly and a yearly subscription in ${timezone}`, () => {
    for (const interval of ['MONTH', 'YEAR'] as const) {
      const began = at('2026-01-31T22:30:00Z');
      const begun = rules.begin({ ...MONTHLY, interval }, { now: began, timezone, trialDays: 0 });
      let subscription = row(begun);
      const wall = (date: Date) =>
        Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(timezone);
      const anchor = wall(subscription.anchor_at);
      const renewals = interval === 'MONTH' ? 60 : 5;
      for (let count = 1; count <= renewals; count++) {
        const now = subscription.current_period_end;
        assert.equal(rules.dueAction(subscription, now), 'CHARGE');
        const period = rules.nextPeriod(subscription, now);
        assert.deepEqual(period.start, now, 'no gap and no overlap');
        const start = wall(period.start);
        assert.equal(start.day, Math.min(anchor.day, start.daysInMonth));
        assert.ok(start.toPlainTime().equals(anchor.toPlainTime()), `${start} keeps the time of ${anchor}`);
        const change = rules.completeRenewal(
          subscription,
          period,
          rules.nextTerms(subscription),
          `pur_${count}`,
        );
        subscription = { ...subscription, ...change?.patch };
      }
      const end = wall(subscription.current_period_end);
      assert.equal(end.year, anchor.year + (interval === 'MONTH' ? 5 : 6));
    }
  });
}
