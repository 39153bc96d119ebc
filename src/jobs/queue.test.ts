import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import Type from 'typebox';
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { jobRows, labelJob, openQueue } from '../../test/jobs/fixture.ts';
import { defineJob } from './job.ts';
import { createJobQueue } from './queue.ts';
import { startJobWorkers } from './worker.ts';

const greet = labelJob('test.greet');
const part = labelJob('test.part');
let database: TestDatabase;
let open: Awaited<ReturnType<typeof openQueue>>;

before(async () => {
  database = await createTestDatabase();
  open = await openQueue(database.url, [greet, part]);
});
beforeEach(() => database.sql`delete from pgboss.job`);
after(async () => {
  await open.close();
  await database.close();
});

const enqueue = (label: string, options = {}, job = greet) =>
  open.db.transaction().execute((tx) => open.jobs.enqueue(tx, job, { label }, options));
const labels = async () => (await jobRows(open.db)).map(({ name, label, state }) => [name, label, state]);

test('a job is there when its transaction commits, and only then', async () => {
  await enqueue('kept');
  const undone = open.db.transaction().execute(async (tx) => {
    await open.jobs.enqueue(tx, greet, { label: 'undone' });
    throw new Error('undo');
  });
  await assert.rejects(undone, /undo/);
  assert.deepEqual(await labels(), [['test.greet', 'kept', 'created']]);
});

test('two first jobs of a queue at once make it once', async (t) => {
  const fresh = Array.from({ length: 8 }, (_, i) => labelJob(`test.fresh-${i}`));
  const other = await openQueue(database.url, fresh);
  t.after(() => other.close());
  const add = (job: typeof greet) =>
    other.db.transaction().execute((tx) => other.jobs.enqueue(tx, job, { label: 'x' }));
  await Promise.all([...fresh, ...fresh].map(add));
  assert.equal((await jobRows(other.db)).length, 16);
});

test('a key is taken once in its queue while its job waits', async () => {
  await Promise.all(['a', 'b', 'c'].map((label) => enqueue(label, { key: 'k' })));
  await enqueue('other key', { key: 'l' });
  await enqueue('other queue', { key: 'k' }, part);
  await enqueue('no key');
  await enqueue('no key');
  assert.deepEqual((await labels()).map(([name, label]) => (label?.length === 1 ? name : label)).sort(), [
    'no key',
    'no key',
    'other key',
    'other queue',
    'test.greet',
  ]);
});

test('cancel removes the waiting job of its key, with its transaction, and frees the key', async () => {
  await enqueue('a', { key: 'k' });
  await enqueue('b', { key: 'l' });
  await open.db.transaction().execute((tx) => open.jobs.cancel(tx, greet, 'k'));
  await enqueue('again', { key: 'k' });
  assert.deepEqual(await labels(), [
    ['test.greet', 'a', 'cancelled'],
    ['test.greet', 'b', 'created'],
    ['test.greet', 'again', 'created'],
  ]);
});

test('a payload that does not fit and an unknown job are refused', async () => {
  const wrong = open.db.transaction().execute((tx) => open.jobs.enqueue(tx, greet, Object({ label: 7 })));
  await assert.rejects(wrong, /test\.greet was refused: payload\.label must be string/);
  await assert.rejects(enqueue('x', {}, labelJob('test.greet')), /test\.greet is not in the registry/);
  assert.deepEqual(await labels(), []);
});

test('the registry refuses what could not work', () => {
  const registry = (...definitions: ReturnType<typeof defineJob>[]) =>
    createJobQueue({ ...open, definitions });
  assert.throws(() => registry(greet, labelJob('test.greet')), /two jobs are called test\.greet/);
  assert.throws(() => registry(labelJob('greet')), /"greet" is no name of a job/);
  assert.throws(() => registry(labelJob('test.x', [5, -1])), /a pause of the job test\.x is negative/);
  const text = defineJob({ name: 'test.text', payload: Type.String(), retrySec: [] });
  assert.throws(() => registry(text), /the payload of the job test\.text is no object/);
});

test('workers are only for registered jobs, one for each', () => {
  const worker = (job: typeof greet) => ({ job, concurrency: 1, run: async () => {} });
  assert.throws(
    () => startJobWorkers(open.workersOf([worker(labelJob('test.unknown'))])),
    /test\.unknown is not in the registry/,
  );
  assert.throws(() => startJobWorkers(open.workersOf([worker(greet), worker(greet)])), /two workers/);
});
