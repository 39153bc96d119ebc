import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ingestSession, type StoredBody } from '../../../../test/harness/factories.ts';
import { dateFromMs } from '../../../kernel/clock.ts';

const MINUTE_MS = 60_000;
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;

before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());
beforeEach(async () => {
  ({ key } = await app.createKey());
});

async function create(body: object = {}): Promise<string> {
  const made = await app.request('POST', '/streams', { key, body: { title: 'One', ...body } });
  return made.assertOk(201).string('data.id');
}
const patch = async (id: string, body: object) =>
  (await app.request('PATCH', `/streams/${id}`, { key, body })).assertOk(200);

/** Returns the events of the stream that carry a sequence: `[type, data]` without the stream's ID. */
async function numbered(id: string): Promise<[string, Record<string, unknown>][]> {
  const rows = await app.container.sql<{ body: StoredBody }[]>`
    select body::json as body from event where body::json->'data'->>'streamId' = ${id} order by seq`;
  return rows
    .map(({ body }) => body)
    .filter(({ data }) => 'sequence' in data)
    .map(({ type, data: { streamId, ...data } }) => {
      assert.equal(streamId, id);
      return [type, data];
    });
}

test('created, updated, key_rotated and deleted are emitted with a sequence each', async () => {
  const id = await create({ visibility: 'UNLISTED', metadata: { a: '1' } });
  await patch(id, { title: 'Two', metadata: { a: '2' }, record: false });
  await patch(id, { title: 'Two' });
  (await app.request('POST', `/streams/${id}/rotate-key`, { key })).assertOk(200);
  (await app.request('DELETE', `/streams/${id}`, { key })).assertOk(200);
  const at = clock.now().toISOString();
  assert.deepEqual(await numbered(id), [
    ['stream.created', { title: 'One', visibility: 'UNLISTED', sequence: 1 }],
    [
      'stream.updated',
      {
        title: 'Two',
        visibility: 'UNLISTED',
        changes: { title: { from: 'One', to: 'Two' }, metadata: { from: { a: '1' }, to: { a: '2' } } },
        sequence: 2,
      },
    ],
    ['stream.key_rotated', { rotatedAt: at, sequence: 3 }],
    ['stream.deleted', { deletedAt: at, sequence: 4 }],
  ]);
});

test('the four events of a broadcast carry no sequence', async () => {
  const id = await create();
  const { signals } = app.container;
  await signals.publishStarted(ingestSession(id));
  (await app.request('POST', `/streams/${id}/start`, { key })).assertOk(200);
  await patch(id, { chatEnabled: false });
  assert.deepEqual(
    (await numbered(id)).map(([type, { sequence }]) => [type, sequence]),
    [
      ['stream.created', 1],
      ['stream.updated', 2],
    ],
  );
});

test('concurrent changes are emitted one by one, each relative to the previous one', async () => {
  const id = await create();
  await Promise.all(Array.from({ length: 8 }, (_, n) => patch(id, { title: `T${n}` })));
  const [, ...updates] = await numbered(id);
  assert.deepEqual(
    updates.map(([, { sequence }]) => sequence),
    Array.from({ length: 8 }, (_, n) => n + 2),
  );
  const titles = updates.map(([, data]) => Object(data.changes).title);
  titles.slice(1).forEach(({ from }, n) => {
    assert.equal(from, titles[n].to);
  });
});

describe('stream.scheduled', () => {
  const inMinutes = (minutes: number) => dateFromMs(clock.ms() + minutes * MINUTE_MS).toISOString();
  const sweep = () => app.container.signals.sweep();
  const planned = async (id: string) =>
    (await numbered(id))
      .filter(([type]) => type === 'stream.scheduled')
      .map(([, data]) => data.scheduledStartAt);

  test('stream.scheduled is emitted when the start is set or moved, and once 15 minutes before it', async () => {
    const first = inMinutes(60);
    const id = await create({ scheduledStartAt: first });
    assert.deepEqual(await planned(id), [first]);
    const second = inMinutes(90);
    await patch(id, { scheduledStartAt: second });
    await patch(id, { scheduledStartAt: second });
    assert.deepEqual(await planned(id), [first, second]);
    clock.advance(75 * MINUTE_MS - 1);
    await sweep();
    assert.deepEqual(await planned(id), [first, second]);
    clock.advance(1);
    await Promise.all([sweep(), sweep()]);
    await sweep();
    assert.deepEqual(await planned(id), [first, second, second]);
  });

  test('a start that is set late, removed or deleted is not announced again', async () => {
    const late = await create({ scheduledStartAt: inMinutes(10) });
    const undone = await create({ scheduledStartAt: inMinutes(20) });
    const gone = await create({ scheduledStartAt: inMinutes(20) });
    await patch(undone, { scheduledStartAt: null });
    (await app.request('DELETE', `/streams/${gone}`, { key })).assertOk(200);
    clock.advance(9 * MINUTE_MS);
    await sweep();
    for (const id of [late, undone, gone]) assert.equal((await planned(id)).length, 1);
  });
});

describe('stream.health_changed', () => {
  const health = (...issues: string[]) => ({
    bitrateKbps: 2500,
    fps: 30,
    width: 1280,
    height: 720,
    codec: 'h264',
    issues,
  });
  const told = async (id: string) =>
    (await numbered(id))
      .filter(([type]) => type === 'stream.health_changed')
      .map(([, { healthy, issues }]) => [healthy, issues]);

  test('stream.health_changed is emitted when the issues change, at most once a minute, and ends with the current state', async () => {
    const id = await create();
    const { signals } = app.container;
    const report = (...issues: string[]) => signals.reportHealth(id, health(...issues));
    await report('LOW_BITRATE');
    assert.deepEqual(await told(id), [], 'there is no signal');
    await signals.publishStarted(ingestSession(id));
    await report();
    assert.deepEqual(await told(id), [], 'healthy from the beginning');
    await report('LOW_BITRATE', 'KEYFRAME_INTERVAL');
    await report('KEYFRAME_INTERVAL', 'LOW_BITRATE');
    assert.deepEqual(await told(id), [[false, ['KEYFRAME_INTERVAL', 'LOW_BITRATE']]]);
    clock.advance(MINUTE_MS - 1);
    await report();
    assert.equal((await told(id)).length, 1);
    clock.advance(1);
    await Promise.all([report(), report()]);
    assert.deepEqual((await told(id)).slice(1), [[true, []]]);
  });
});
