import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { createEncoderStream } from '../../../../test/streams/encoder-stream.ts';
import { DAY_MS, HOUR_MS } from '../../../kernel/durations.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

test('the location of a stream is the node of its current or last encoder', async () => {
  const { key } = await app.createKey();
  const { mediaNodes } = app.container;
  const stream = await createEncoderStream(app, key);
  const place = () => mediaNodes.places.find(stream.id);
  assert.equal(await place(), undefined);
  const first = await stream.connect({ nodeId: 'nod_a' });
  assert.deepEqual(await place(), { nodeId: 'nod_a', url: null }, 'it has not said where it listens');
  await mediaNodes.listens('nod_a', 'http://10.0.0.1:8085');
  await mediaNodes.listens('nod_b', 'http://10.0.0.2:1');
  await mediaNodes.listens('nod_b', 'http://10.0.0.2:8085');
  assert.deepEqual(await place(), { nodeId: 'nod_a', url: 'http://10.0.0.1:8085' });
  await stream.end(first, 'unpublish');
  assert.equal((await place())?.nodeId, 'nod_a');
  assert.equal(await mediaNodes.elsewhere(stream.id, { nodeId: 'nod_a', sinceMs: 0 }), undefined);
  clock.advance(1000);
  const second = await stream.connect({ nodeId: 'nod_b' });
  assert.deepEqual(await place(), { nodeId: 'nod_b', url: 'http://10.0.0.2:8085' });
  const elsewhere = (sinceMs = 0) => mediaNodes.elsewhere(stream.id, { nodeId: 'nod_b', sinceMs });
  assert.equal((await elsewhere())?.nodeId, 'nod_a');
  assert.equal(await elsewhere(clock.ms()), undefined, 'this node has shown more since');
  await stream.end(second, 'unpublish');
  assert.equal((await place())?.nodeId, 'nod_b');
  clock.advance(HOUR_MS);
  assert.equal(await elsewhere(), undefined, 'nothing of it is shown any more');
});

test('nodes without a heartbeat for a week are deleted', async () => {
  const { mediaNodes, sql } = app.container;
  await mediaNodes.listens('nod_old', 'http://10.0.0.3:8085');
  clock.advance(8 * DAY_MS);
  await mediaNodes.listens('nod_new', 'http://10.0.0.4:8085');
  await runTask(app.container, 'media nodes');
  assert.deepEqual(
    (await sql`select id from media_node where id in ('nod_old', 'nod_new')`).map(({ id }) => id),
    ['nod_new'],
  );
});
