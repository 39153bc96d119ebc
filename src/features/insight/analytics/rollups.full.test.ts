import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { findRollupErrors } from '../../../../test/analytics/expected-rollups.ts';
import { openFaultInjection } from '../../../../test/analytics/fault-injection.ts';
import { AFTER_HISTORY, historyOf, placed } from '../../../../test/analytics/history.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { createTestDatabase } from '../../../../test/harness/database.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createUsageEvents } from '../usage-events/service.ts';
import { createRollups } from './rollups.service.ts';

const MAIN = join(import.meta.dirname, '../../../../test/analytics/sums-main.ts');
const KILLS = 12;

let life: Awaited<ReturnType<typeof openFaultInjection>>;
before(async () => {
  life = await openFaultInjection();
});
after(() => life.close());

test('the rollups equal a recount, in many histories', async () => {
  await fc.assert(fc.asyncProperty(historyOf(9), life.live), { numRuns: 60 });
});

test('killed workers lose no usage events and count none twice', async () => {
  const database = await createTestDatabase({ pool: 6 });
  const { db, sql } = database;
  const clock = new TestClock(AFTER_HISTORY);
  const facts = createUsageEvents({
    db,
    clock,
    log: { warn() {} },
    onRowsDropped: () => assert.fail('dropped'),
  });
  let isOver = false;
  const made = fc.sample(historyOf(9), 200).flatMap(({ changes }) => changes);
  const write = async (from: number) => {
    for (let n = from; !isOver; n += 2) {
      const change = made[n % made.length];
      if (change === undefined) return;
      await db.transaction().execute(async (tx) => {
        await facts.append(
          tx,
          change.facts.map((fact) => placed(`wsp_${Math.floor(n / 40)}_`, fact)),
        );
        await sleep(n % 7);
      });
    }
  };
  const writers = [write(0), write(1)];
  const start = () => spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, database.url]);
  for (let n = 0; n < KILLS; n++) {
    const workers: ChildProcess[] = [start(), start()];
    await Promise.all(workers.map((worker) => worker.stdout && once(worker.stdout, 'data')));
    await sleep(37 * (n % 9));
    for (const worker of workers) {
      worker.kill('SIGKILL');
      await once(worker, 'exit');
    }
  }
  isOver = true;
  await Promise.all(writers);
  const sums = createRollups({ db, clock, facts, rawDays: 90 });
  // PostgreSQL notices after a while that the last workers are gone, and the slower the machine, the more usage
  // events have been written until then.
  const isCaughtUp = async () => {
    await sums.run();
    const [row] =
      await sql`select count(*) as facts from usage_event where xid >= (select next_xid from rollup_state)`;
    return row?.facts === 0;
  };
  await waitFor(isCaughtUp, { timeoutMs: 60_000, message: 'the rollups of all usage events' });
  assert.deepEqual(await findRollupErrors(sql, 'wsp_'), []);
  await database.close();
});
