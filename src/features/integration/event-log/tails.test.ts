import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { TailItem } from './service.ts';
import { createEventLog, type EventLog } from './service.ts';

let app: TestApp;
let workspaceId: string;
let statements = 0;
let eventLog: EventLog;

before(async () => {
  app = await startTestApp();
  const { container } = app;
  const db: Db = container.db.withPlugin({
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  eventLog = createEventLog({ ...container, db, livemode: true });
});
after(() => app.close());
beforeEach(async () => {
  workspaceId = (await app.createAccount()).live;
});

/** @returns the ids of as many events, appended in one transaction. */
function emit(count: number): Promise<string[]> {
  const definition = app.container.catalogue.get('stream.live');
  assert.ok(definition !== undefined);
  return app.container.events.transaction(async (_tx, append) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push(await append(definition, workspaceId, definition.sample));
    return ids;
  });
}

const idOf = (item: TailItem | undefined) => (item?.kind === 'event' ? JSON.parse(item.body).id : item?.kind);

/** Opens a tail that is read only on demand. */
async function open() {
  const controller = new AbortController();
  const options = { patterns: [], after: null, signal: controller.signal };
  const items = eventLog.tail(workspaceId, options)[Symbol.asyncIterator]();
  const next = async () => idOf((await items.next()).value);
  assert.equal(await next(), 'ready');
  return {
    next,
    async read(count: number) {
      const ids: string[] = [];
      while (ids.length < count) ids.push(await next());
      return ids;
    },
    async close() {
      controller.abort();
      await items.next();
    },
  };
}

test('the tails of a workspace share the queries', async () => {
  const tails = await Promise.all(Array.from({ length: 200 }, open));
  const reading = Promise.all(tails.map((tail) => tail.next()));
  statements = 0;
  const [id] = await emit(1);
  assert.deepEqual(new Set(await reading), new Set([id]));
  assert.ok(statements < tails.length / 2, `${statements} statements`);
  await Promise.all(tails.map((tail) => tail.close()));
});

test('a slow reader misses nothing, sees nothing twice and delays no other reader', async () => {
  const [slow, quick] = [await open(), await open()];
  const first = await emit(1);
  assert.deepEqual(await slow.read(1), first);
  const ids: string[] = [];
  for (const count of [250, 1, 120, 300, 90]) {
    const made = await emit(count);
    ids.push(...made);
    const seen = await quick.read(ids.length === made.length ? count + 1 : count);
    assert.deepEqual(seen.slice(-count), made);
  }
  assert.deepEqual(await slow.read(ids.length), ids);
  const last = await emit(1);
  assert.deepEqual([await slow.read(1), await quick.read(1)], [last, last]);
  await Promise.all([slow.close(), quick.close()]);
});
