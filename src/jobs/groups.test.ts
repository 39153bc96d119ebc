import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { type LabelRun, labelJob, openQueue } from '../../test/jobs/fixture.ts';
import { startJobWorkers } from './worker.ts';

const job = labelJob('test.grouped');
let database: TestDatabase;
let open: Awaited<ReturnType<typeof openQueue>>;
before(async () => {
  database = await createTestDatabase();
  open = await openQueue(database.url, [job]);
});
after(async () => {
  await open.close();
  await database.close();
});

test('perGroup leaves a slot to other groups', async () => {
  const add = (label: string, group: string) =>
    open.db.transaction().execute((tx) => open.jobs.enqueue(tx, job, { label }, { group }));
  for (const label of ['a1', 'a2', 'a3', 'a4']) await add(label, 'a');
  const running = new Map<string, () => void>();
  const run = ({ payload }: LabelRun) => new Promise<void>((resolve) => running.set(payload.label, resolve));
  const workers = startJobWorkers(open.workersOf([{ job, concurrency: 3, perGroup: 2, run }]));
  await waitFor(() => running.size === 2);
  await add('b1', 'b');
  await waitFor(() => running.has('b1'), { timeoutMs: 15_000, message: 'the free slot' });
  assert.deepEqual([...running.keys()], ['a1', 'a2', 'b1']);
  running.get('a1')?.();
  await waitFor(() => running.has('a3'), { timeoutMs: 15_000 });
  assert.equal(running.has('a4'), false);
  for (const end of running.values()) end();
  await waitFor(() => running.has('a4'), { timeoutMs: 15_000 });
  running.get('a4')?.();
  await workers.stop();
});
