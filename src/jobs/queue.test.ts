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
beforeEach(() => database.sql`delete from job`);
after(async () => {
  await open.close();
  await database.close();
});

const enqueue = (label: string, options = {}, job = greet) =>
  open.db.transaction().execute((tx) => open.jobs.enqueue(tx, job, { label }, options));
const labels = async () => (await jobRows(open.db)).map(({ name, label, state }) => [name, label, state]);

test('a job exists when its transaction commits, and not when it rolls back', async () => {
  await enqueue('kept');
  const undone = open.db.transaction().execute(async (tx) => {
    await open.jobs.enqueue(tx, greet, { label: 'undone' });
    throw new Error('undo');
  });
  await assert.rejects(undone, /undo/);
  assert.deepEqual(await labels(), [['test.greet', 'kept', 'waiting']]);
});

test('a key admits one waiting job per queue', async () => {
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

test('cancel ends the waiting job of a key and frees the key', async () => {
  await enqueue('a', { key: 'k' });
  await enqueue('b', { key: 'l' });
  await open.db.transaction().execute((tx) => open.jobs.cancel(tx, greet, 'k'));
  await enqueue('again', { key: 'k' });
  assert.deepEqual(await labels(), [
    ['test.greet', 'a', 'canceled'],
    ['test.greet', 'b', 'waiting'],
    ['test.greet', 'again', 'waiting'],
  ]);
});

test('enqueue rejects an invalid payload and an unregistered job', async () => {
  const wrong = open.db.transaction().execute((tx) => open.jobs.enqueue(tx, greet, Object({ label: 7 })));
  await assert.rejects(wrong, /test\.greet was rejected: payload\.label must be string/);
  await assert.rejects(enqueue('x', {}, labelJob('test.greet')), /test\.greet is not in the registry/);
  assert.deepEqual(await labels(), []);
});

test('the registry rejects malformed definitions', () => {
  const registry = (...definitions: ReturnType<typeof defineJob>[]) =>
    createJobQueue({ ...open, definitions });
  assert.throws(() => registry(greet, labelJob('test.greet')), /two jobs are named test\.greet/);
  assert.throws(() => registry(labelJob('greet')), /"greet" is not a valid job name/);
  assert.throws(() => registry(labelJob('test.x', [5, -1])), /a pause of the job test\.x is negative/);
  const text = defineJob({ name: 'test.text', payload: Type.String(), retrySec: [] });
  assert.throws(() => registry(text), /the payload of the job test\.text is not an object/);
});

test('a worker needs a registered job, and a job has one worker', () => {
  const worker = (job: typeof greet) => ({ job, concurrency: 1, run: async () => {} });
  assert.throws(
    () => startJobWorkers(open.workersOf([worker(labelJob('test.unknown'))])),
    /test\.unknown is not in the registry/,
  );
  assert.throws(
    () => startJobWorkers(open.workersOf([worker(greet), worker(greet)])),
    /more than one worker/,
  );
});
