import { createRollups } from '../../src/features/insight/analytics/rollups.service.ts';
import { createUsageEvents } from '../../src/features/insight/usage-events/service.ts';
import { openDatabase } from '../../src/platform/db/index.ts';
import { TestClock } from '../harness/clock.ts';
import { AFTER_HISTORY } from './history.ts';

/**
 * Worker that rolls up usage events without a pause, until it is killed. Argument: the URL of the database.
 */
const { db } = openDatabase({ url: process.argv[2] ?? '', pool: 2, name: 'sums' });
const clock = new TestClock(AFTER_HISTORY);
const facts = createUsageEvents({ db, clock, log: { warn() {} }, onRowsDropped() {} });
const sums = createRollups({ db, clock, facts, rawDays: 90, chunk: 150 });
for (;;) {
  const facts = await sums.run();
  process.stdout.write(`${facts}\n`);
}
