import assert from 'node:assert/strict';
import { maintainPartitions } from '../../src/events/partitions.ts';
import { createRollups } from '../../src/features/insight/analytics/rollups.service.ts';
import { createUsageEvents } from '../../src/features/insight/usage-events/service.ts';
import { TestClock } from '../harness/clock.ts';
import { createTestDatabase } from '../harness/database.ts';
import { findRollupErrors, readFacts } from './expected-rollups.ts';
import { type Change, placed, TABLES } from './history.ts';

/** Opens a database in which rollups can be made to fail before and after each statement. */
export async function openFaultInjection() {
  const clock = new TestClock('2026-11-20T10:00:00Z');
  const database = await createTestDatabase({ pool: 12 });
  const { sql, db } = database;
  await maintainPartitions(sql, clock, { ANALYTICS_RAW_DAYS: 90 });
  await sql`create table failing (place text primary key)`;
  await sql`
    create function fail() returns trigger language plpgsql as $$ begin
      if exists (select from failing where place = tg_when || tg_table_name) then raise 'killed'; end if;
      return null; end $$`;
  for (const table of TABLES)
    for (const when of ['before', 'after'])
      await sql.unsafe(
        `create trigger fail_${when} ${when} insert or update on ${table} execute function fail()`,
      );
  const facts = createUsageEvents({ db, clock, log: { warn() {} }, onRowsDropped() {} });
  const open = (chunk: number) => createRollups({ db, clock, facts, rawDays: 90, chunk });
  let count = 0;

  async function assertEqual(prefix: string): Promise<void> {
    assert.deepEqual(await findRollupErrors(sql, prefix), []);
  }

  /**
   * Writes usage events, commits them out of order and rolls them up, with kills: all counts are correct at
   * any time.
   */
  async function live({
    changes,
    acts,
    chunk,
  }: {
    changes: Change[];
    acts: string[];
    chunk: number;
  }): Promise<void> {
    const prefix = `wsp_${count++}_`;
    const sums = open(chunk);
    const facts = createUsageEvents({ db, clock, log: { warn() {} }, onRowsDropped() {} });
    const pending: { step: number; commit(): Promise<void> }[] = [];
    clock.set('2026-11-21T00:20:00Z');
    await sql`
      update rollup_state set compacted_until = null, fresh_until = 'epoch', pending_xid = null, pending_fresh_until = null`;
    for (const [step, act] of acts.entries()) {
      for (const { facts: made, begins, lasts } of changes.filter((one) => one.begins === step)) {
        const gate = Promise.withResolvers<void>();
        const written = Promise.withResolvers<void>();
        const done = db.transaction().execute(async (tx) => {
          await facts.append(
            tx,
            made.map((fact) => placed(prefix, fact)),
          );
          written.resolve();
          await gate.promise;
        });
        await written.promise;
        pending.push({
          step: begins + lasts,
          async commit() {
            gate.resolve();
            await done;
          },
        });
      }
      for (const { commit } of pending.filter((one) => one.step === step)) await commit();
      await perform(act, sums);
      if (act !== 'none') await assertEqual(prefix);
    }
    clock.set('2026-11-22T10:00:00Z');
    await sums.run();
    assert.equal((await readFacts(sql, prefix)).length, changes.flatMap((one) => one.facts).length);
    await assertEqual(prefix);
    await sums.rebuild('2026-11-19', '2026-11-22');
    await assertEqual(prefix);
  }
  /** Advances the clock by hours, so that intervals end, and performs an action. */
  async function perform(act: string, sums: ReturnType<typeof open>): Promise<void> {
    clock.advance(200 * 60_000);
    if (act === 'run') await sums.run();
    else if (act === 'two') await Promise.all([sums.run(), open(2).run(), open(5).run()]);
    else if (act === 'rebuild')
      await Promise.all([sums.rebuild('2026-11-21', '2026-11-21'), open(1000).run()]);
    else if (act !== 'none') {
      await sql`insert into failing (place) values (${act})`;
      await sums.run().catch((error: unknown) => assert.match(String(error), /killed/));
      await sql`delete from failing`;
    }
  }

  return { live, close: () => database.close() };
}
