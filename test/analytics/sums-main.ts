import { createRollups } from '../../src/features/insight/analytics/rollups.service.ts';
import { createUsageEvents } from '../../src/features/insight/usage-events/service.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { openDatabase } from '../../src/platform/db/index.ts';

/**
 * Worker that rolls up usage events without a pause, until it is killed. Argument: the URL of the database.
 */
const { db } = openDatabase({ url: process.argv[2] ?? '', pool: 2, name: 'sums' });
const facts = createUsageEvents({ db, clock: systemClock, log: { warn() {} }, onRowsDropped() {} });
const sums = createRollups({ db, clock: systemClock, facts, rawDays: 90, chunk: 150 });
for (;;) {
  const facts = await sums.run();
  process.stdout.write(`${facts}\n`);
}
