import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findRollupErrors } from '../../../../test/analytics/expected-rollups.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { commandLine, runCommand } from '../../../../test/harness/command-line.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { maintainPartitions } from '../../../events/partitions.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { createRollups } from './rollups.service.ts';

/** The command line uses the system clock. */
const clock = new TestClock(systemClock.now().toISOString());
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
  await maintainPartitions(app.container.sql, clock, app.container.config);
});
after(() => app.close());

const run = () => runTask(app.container, 'analytics rollups');
const freshUntil = async () =>
  (await app.container.db.selectFrom('rollup_state').select('fresh_until').executeTakeFirst())?.fresh_until;
const viewsOf = async (workspaceId: string) => {
  const rows = await app.container.sql`
    select views from analytics_total where workspace_id = ${workspaceId} and subject_kind = 'ACCOUNT' and interval_min = 15`;
  return rows.reduce((sum, { views }) => sum + Number(views), 0);
};

test('a late transaction is counted, and freshness waits for it', async () => {
  const { db, facts } = app.container;
  const workspaceId = 'wsp_late';
  const written = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const late = db.transaction().execute(async (tx) => {
    await facts.append(tx, [{ kind: 'VIEW', workspaceId, subjectId: 'vid_1' }]);
    written.resolve();
    await gate.promise;
  });
  await written.promise;
  await run();
  const before = clock.now();
  assert.deepEqual(await freshUntil(), before);
  clock.advance(10_000);
  await db
    .transaction()
    .execute((tx) => facts.append(tx, [{ kind: 'VIEW', workspaceId, subjectId: 'vid_1' }]));
  await run();
  assert.deepEqual([await viewsOf(workspaceId), await freshUntil()], [0, before]);
  gate.resolve();
  await late;
  clock.advance(10_000);
  await run();
  assert.deepEqual([await viewsOf(workspaceId), await freshUntil()], [2, clock.now()]);
});

test('a backlog of days is added in steps, and two workers count no event twice', async () => {
  const { db, facts } = app.container;
  const workspaceId = 'wsp_still';
  const start = clock.ms() - 2 * DAY_MS;
  for (let n = 0; n < 900; n++)
    facts.record({ kind: 'VIEW', workspaceId, subjectId: `vid_${n % 3}`, at: new Date(start + n * 150_000) });
  await facts.close();
  const open = () => createRollups({ db, clock, facts, rawDays: 90, chunk: 200 });
  const [one, other] = [open(), open()];
  let added = 0;
  // This also waits for transactions of other tests on the same server.
  await waitFor(async () => {
    for (const facts of await Promise.all([one.run(), other.run()])) added += facts;
    return added >= 900;
  });
  assert.equal(added, 900);
  assert.equal(await viewsOf(workspaceId), 900);
  assert.deepEqual([one.lagSec(), other.lagSec()], [0, 0]);
});

test('the rollup lag grows while runs fail', async () => {
  const { sql, metrics } = app.container;
  const behind = async () =>
    /^marquee_sums_behind_seconds (.*)$/m.exec(await metrics.registry.metrics())?.[1];
  await run();
  assert.equal(await behind(), '0');
  await sql`alter table rollup_state rename to away`;
  clock.advance(90_000);
  await assert.rejects(run(), /rollup_state/);
  assert.equal(await behind(), '90');
  await sql`alter table away rename to rollup_state`;
  await run();
  assert.equal(await behind(), '0');
});

test('a database moved to another server continues counting, including its uncounted events', async () => {
  const { db, sql, facts } = app.container;
  const workspaceId = 'wsp_moved';
  const views = [0, 1].map(() => ({ kind: 'VIEW' as const, workspaceId, subjectId: 'vid_1' }));
  await db.transaction().execute((tx) => facts.append(tx, views));
  await run();
  const [state] = await sql`select next_xid::text::bigint as next from rollup_state`;
  clock.advance(1000);
  await db.transaction().execute((tx) => facts.append(tx, [...views, ...views]));
  // Transaction IDs of the other server were higher.
  await sql`update usage_event set xid = (xid::text::bigint + 1e9::bigint)::text::xid8 where xid < ${String(state?.next)}::xid8`;
  await sql`update rollup_state set next_xid = (next_xid::text::bigint + 1e9::bigint)::text::xid8`;
  await run();
  assert.equal(await viewsOf(workspaceId), 6);
  await run();
  assert.equal(await viewsOf(workspaceId), 6);
  assert.deepEqual(await freshUntil(), clock.now());
});

test('the operator rebuilds days and gets an error for days that cannot be rebuilt', async () => {
  const { sql, facts } = app.container;
  const today = clock.now().toISOString().slice(0, 10);
  await sql`update analytics_total set views = views + 7 where workspace_id = 'wsp_still'`;
  await sql`delete from analytics_breakdown where workspace_id = 'wsp_late'`;
  facts.record({ kind: 'VIEW', workspaceId: 'wsp_new', subjectId: 'vid_1' });
  await facts.close();
  const from = new Date(clock.ms() - 3 * DAY_MS).toISOString().slice(0, 10);
  const made: unknown = JSON.parse(
    await commandLine(app, 'analytics', 'rebuild', '--from', from, '--to', today, '--json'),
  );
  assert.equal(Object(made).days.length, 4);
  assert.deepEqual(await findRollupErrors(sql, 'wsp_'), []);
  assert.equal(await viewsOf('wsp_new'), 0);
  await run();
  assert.equal(await viewsOf('wsp_new'), 1);

  const refused = async (...args: string[]) =>
    (await runCommand(app, ['analytics', 'rebuild', ...args])).stderr;
  assert.match(
    await refused('--from', '2020-01-01'),
    /usage events of 2020-01-01 have been deleted: usage events are retained for 90 days/,
  );
  assert.match(await refused('--from', '2026-02-30'), /--from must be a date, such as/);
  assert.match(await refused('--from', today, '--to', from), /--from must not be after --to/);
  assert.match(await refused('--to', '2999-01-01'), /--to must be .* or earlier/);
  const gone = new Date(clock.ms() - 9 * DAY_MS).toISOString().slice(0, 10);
  await sql`
    insert into usage_total (workspace_id, metric, interval_min, at, amount)
    values ('wsp_gone', 'EGRESS', 1440, ${`${gone}T00:00:00Z`}, 5)`;
  assert.match(
    await refused('--from', gone),
    new RegExp(`usage events of ${gone} have been deleted; their rollups are unchanged`),
  );
  assert.equal((await sql`select 1 from usage_total where workspace_id = 'wsp_gone'`).length, 1);
});
