import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { creator } from '../../../../test/money/subscriber.ts';
import { ZONES } from '../../../../test/money/zones.ts';

let app: TestApp;
const clock = new TestClock();
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

test('monthly and yearly subscriptions in ten zones are renewed on their days and charged once for five years', async () => {
  const { subscriptions, db } = app.container;
  clock.set('2026-01-31T10:00:00Z');
  const known: { id: string; zone: string; months: number }[] = [];
  for (const zone of ZONES) {
    const at = await creator(app);
    await db.updateTable('account').set({ timezone: zone }).where('id', '=', at.account.id).execute();
    const month = await at.subscribe(await at.tier());
    const year = await at.subscribe(await at.tier({ interval: 'YEAR', priceCents: 5000 }));
    known.push({ id: month.id, zone, months: 1 }, { id: year.id, zone, months: 12 });
  }
  const end = Date.parse('2031-01-31T12:00:00Z');
  for (;;) {
    const next = await db
      .selectFrom('subscription')
      .select('next_charge_at')
      .where('next_charge_at', 'is not', null)
      .orderBy('next_charge_at')
      .executeTakeFirstOrThrow();
    const ms = next.next_charge_at?.getTime() ?? end;
    if (ms > end) break;
    clock.set(ms);
    await Promise.all([subscriptions.renewals.renewDue(), subscriptions.renewals.renewDue()]);
  }
  for (const { id, zone, months } of known) {
    const row = await db
      .selectFrom('subscription')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const paid = await db.selectFrom('purchase').select('status').where('subscription_id', '=', id).execute();
    assert.equal(row.status, 'ACTIVE', `${zone} ${months}`);
    assert.ok(paid.every(({ status }) => status === 'PAID'));
    assert.equal(paid.length, 1 + 60 / months, `${zone} ${months}`);
    const wall = (date: Date) =>
      Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(zone);
    const [anchor, start] = [wall(row.anchor_at), wall(row.current_period_start)];
    assert.equal(start.day, Math.min(anchor.day, start.daysInMonth), zone);
    assert.ok(start.toPlainTime().equals(anchor.toPlainTime()), zone);
  }
});
