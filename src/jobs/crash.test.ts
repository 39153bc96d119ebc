import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { jobRows, type LabelRun, labelJob, openQueue } from '../../test/jobs/fixture.ts';
import { startJobWorkers } from './worker.ts';

const MAIN = join(import.meta.dirname, '../../test/jobs/worker-main.ts');
const job = labelJob('test.long');
let database: TestDatabase;
let open: Awaited<ReturnType<typeof openQueue>>;
const children: ChildProcess[] = [];

before(async () => {
  database = await createTestDatabase();
  open = await openQueue(database.url, [job]);
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await open.close();
  await database.close();
});

/** Starts a worker in another process and collects its messages. */
function startChild() {
  const child = fork(MAIN, [database.url, job.name], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  children.push(child);
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  return { child, messages };
}

// One test for both, to wait for the lease only once.
test('jobs of a killed and of a suspended worker run elsewhere, and the resumed worker has lost its job', async () => {
  const killed = startChild();
  const paused = startChild();
  for (const label of ['a', 'b']) {
    await open.db.transaction().execute((tx) => open.jobs.enqueue(tx, job, { label }));
  }
  await waitFor(() => killed.messages.length === 1 && paused.messages.length === 1, { timeoutMs: 15_000 });
  const startedAt = performance.now();
  killed.child.kill('SIGKILL');
  paused.child.kill('SIGSTOP');

  const runs: LabelRun[] = [];
  const ends: (() => void)[] = [];
  const run = (given: LabelRun) => {
    runs.push(given);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const workers = startJobWorkers(open.workersOf([{ job, concurrency: 2, run }]));
  await waitFor(() => runs.length === 2, { timeoutMs: 20_000 });
  assert.ok(performance.now() - startedAt > 8000, 'no takeover while a lease may hold');
  assert.deepEqual(
    runs.map(({ attempt, lost }) => [attempt, lost]),
    [
      [1, 1],
      [1, 1],
    ],
  );

  paused.child.kill('SIGCONT');
  await waitFor(() => paused.messages.length === 2);
  assert.match(JSON.stringify(paused.messages[1]), /"aborted":"lost"/);
  for (const { signal, confirm } of runs) {
    assert.equal(signal.aborted, false);
    await open.db.transaction().execute((tx) => confirm(tx));
  }
  for (const end of ends) end();
  await waitFor(async () => (await jobRows(open.db)).every(({ state }) => state === 'completed'));
  assert.equal(runs.length, 2);
  await workers.stop();
});
