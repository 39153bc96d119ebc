import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { openFaultInjection } from '../../../../test/analytics/fault-injection.ts';
import { historyOf } from '../../../../test/analytics/history.ts';

let life: Awaited<ReturnType<typeof openFaultInjection>>;
before(async () => {
  life = await openFaultInjection();
});
after(() => life.close());

test('the rollups equal a recount for any order of events, with kills, late commits and rebuilt days', async () => {
  await fc.assert(fc.asyncProperty(historyOf(6), life.live), { numRuns: 2 });
});
