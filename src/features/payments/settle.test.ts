import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import { buyer } from '../../../test/money/buyer.ts';

let app: TestApp;
const clock = new TestClock('2026-03-01T12:00:00Z');
before(async () => {
  app = await startTestApp({ clock, env: { PLATFORM_FEE_PERCENT: '10' } });
});
after(() => app.close());

test('a card that pays', async () => {
  const { pay, statuses } = await buyer(app);
  const { settled, ...ids } = await pay('4242 4242 4242 4242');
  assert.deepEqual(settled, { status: 'SUCCEEDED' });
  assert.deepEqual(await statuses(ids), { purchase: 'PAID', payment: 'SUCCEEDED' });
});
