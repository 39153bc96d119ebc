import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { type Bus, createBus } from './bus.ts';
import { openDatabase } from './db/index.ts';
import { createLogger } from './logger.ts';

let database: TestDatabase;
let here: Bus;
let there: Bus;
let far: ReturnType<typeof openDatabase>;

before(async () => {
  database = await createTestDatabase({ empty: true });
  far = openDatabase({ url: database.url, pool: 2, name: 'far' });
  here = await createBus(database.sql, createLogger('silent'));
  there = await createBus(far.sql, createLogger('silent'));
});
after(async () => {
  await here.close();
  await there.close();
  await far.close();
  await database.close();
});

function listen(bus: Bus, topic: string) {
  const heard: string[] = [];
  const end = bus.subscribe(topic, (payload) => heard.push(payload));
  return { heard, end };
}

test('a hint arrives once in its own process synchronously and once in others after a round trip', async () => {
  const [near, distant] = [listen(here, 'a'), listen(there, 'a')];
  here.publish('a', 'one');
  assert.deepEqual(near.heard, ['one']);
  await waitFor(() => distant.heard.length > 0);
  there.publish('a', 'two');
  await waitFor(() => near.heard.length > 1);
  assert.deepEqual(near.heard, ['one', 'two']);
  assert.deepEqual(distant.heard, ['one', 'two']);
});

test('topics are apart, and an ended subscription hears nothing', async () => {
  const [one, other, ended] = [listen(there, 'x'), listen(there, 'y'), listen(there, 'x')];
  ended.end();
  here.publish('y');
  here.publish('x', 'last');
  await waitFor(() => one.heard.length > 0);
  assert.deepEqual([one.heard, other.heard, ended.heard], [['last'], [''], []]);
});

test('a payload may have lines and any letters', async () => {
  const distant = listen(there, 'text');
  here.publish('text', "a\nb'c é🎬");
  await waitFor(() => distant.heard.length > 0);
  assert.deepEqual(distant.heard, ["a\nb'c é🎬"]);
});

test('equal hints of one moment are one on the way, different ones all arrive', async () => {
  const distant = listen(there, 'burst');
  for (let i = 0; i < 50; i++) here.publish('burst', String(i % 5));
  here.publish('burst', 'end');
  await waitFor(() => distant.heard.includes('end'));
  assert.deepEqual(distant.heard.filter((payload) => payload === '4').length, 1);
  assert.deepEqual(new Set(distant.heard), new Set(['0', '1', '2', '3', '4', 'end']));
});

test('it listens again after its connection was cut', async () => {
  const distant = listen(there, 'again');
  await database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'far' and datname = current_database()`;
  await waitFor(() => {
    here.publish('again', 'hello');
    return distant.heard.length > 0;
  });
});

test('a hint that cannot be sent is a warning, not a failure', async () => {
  const lines: string[] = [];
  const warn = (_data: object, line: string) => lines.push(line);
  const lost = openDatabase({ url: database.url, pool: 1, name: 'lost' });
  const bus = await createBus(lost.sql, Object.assign(createLogger('silent'), { warn }));
  await lost.close();
  bus.publish('x');
  await waitFor(() => lines.length > 0);
  assert.match(lines[0] ?? '', /lost/);
});
