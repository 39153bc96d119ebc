import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import Type from 'typebox';
import { needsOwnProcess } from '../../test/harness/needs.ts';
import { noSessions } from '../../test/harness/no-sessions.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import type { Caller } from '../kernel/access.ts';
import { systemClock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { createLeases } from '../platform/leases.ts';
import { createLogger } from '../platform/logger.ts';
import { createApp } from './app.ts';
import type { EventStreamHandler, EventWriter } from './event-stream.ts';
import { defineRoute, NoBody, NoParams, NoQuery } from './route.ts';

needsOwnProcess();

const unused = () => Promise.reject(new Error('not part of this test'));
const log = createLogger('silent');
const HEARTBEAT_MS = 15_000;
const caller: Caller = {
  workspaceId: 'wsp_1',
  accountId: 'usr_1',
  actor: { kind: 'key', id: 'key_1', userId: 'usr_1' },
  scope: 'READ_ONLY',
  permissions: [],
  mode: 'live',
  plan: 'VIP',
  rateLimitPerMinute: 100,
  dailyQuota: null,
};

let verify: () => Caller;
let tail: EventStreamHandler;

const route = defineRoute({
  operationId: 'test.stream',
  method: 'GET',
  path: '/tail',
  summary: 'A tail',
  auth: 'key',
  permission: null,
  gate: null,
  idempotent: false,
  originLock: false,
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  reply: { status: 200, schema: Type.Object({}), envelope: 'events', perAccount: 3 },
  errors: [],
  handler: async () => tail,
});

/** Resolves when the stream has ended. */
const untilOver = ({ signal }: EventWriter) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

async function open() {
  const window = async () => ({ count: 1, resetInMs: 60_000 });
  const app = await createApp({
    ports: {
      keys: { verify: () => verify(), onChanged: () => {} },
      verifyUserToken: unused,
      sessions: noSessions,
      counters: {
        perMinute: window,
        perDay: window,
        dayCount: window,
        window: () => ({ hit: unused, peek: unused }),
      },
      idempotency: { find: unused, once: unused, onceLeased: unused },
      leases: createLeases(null),
      originLock: { refusal: unused },
      metrics: { observe: () => {} },
      databaseFailure: () => null,
      clock: systemClock,
      log,
      accessLog: { note: () => {} },
      requestLog: { note: () => {}, count: () => {} },
      quotas: { changed: () => {}, refused: () => {} },
      deprecatedUses: { note: () => {} },
    },
    routes: [route],
    pages: [],
    trustProxy: false,
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const tailUrl = `${url}/api/v1/tail`;
  const response = await fetch(tailUrl, { headers: { 'x-api-key': 'pk_x' } });
  return { response, url: tailUrl, close: () => app.close() };
}

beforeEach(() => {
  verify = () => caller;
  tail = untilOver;
  mock.timers.enable({ apis: ['setInterval'] });
});
afterEach(() => mock.timers.reset());

test('a heartbeat every 15 s, and goodbye within 30 s when the key is refused', async () => {
  const { response, close } = await open();
  mock.timers.tick(HEARTBEAT_MS);
  await new Promise(setImmediate);
  verify = () => {
    throw new AppError('KEY_DISABLED');
  };
  mock.timers.tick(HEARTBEAT_MS);
  const text = await response.text();
  assert.match(
    text,
    /^retry: 3000\n\n(: hb \d+\n\n){2}event: bye\ndata: \{"reason":"KEY_REVOKED","reconnect":false\}\n\n$/,
  );
  await close();
});

test('a key check that fails for another reason ends nothing', async () => {
  const { response, close } = await open();
  verify = () => {
    throw new Error('the database is away');
  };
  mock.timers.tick(HEARTBEAT_MS);
  await new Promise(setImmediate);
  const closing = close();
  assert.match(await response.text(), /: hb \d+\n\nevent: bye\ndata: \{"reason":"SHUTDOWN"/);
  await closing;
});

test('a tail that fails or finishes ends the stream', async () => {
  for (const end of [unused, async () => {}]) {
    tail = async (out) => {
      await out.send({ event: 'one', id: '7', data: '{"a":1}' });
      await out.send({ event: 'two', data: '{}' });
      await end();
    };
    const { response, close } = await open();
    assert.equal(
      await response.text(),
      'retry: 3000\n\nevent: one\nid: 7\ndata: {"a":1}\n\nevent: two\ndata: {}\n\n',
    );
    await close();
  }
});

test('a client that does not read is waited for, and one that leaves ends its tail', async () => {
  let sent = 0;
  const over = Promise.withResolvers<void>();
  tail = async (out) => {
    const data = JSON.stringify('x'.repeat(100_000));
    while (!out.signal.aborted) {
      await out.send({ event: 'big', data });
      sent += 1;
    }
    over.resolve();
  };
  const { response, close } = await open();
  let before = -1;
  while (before !== sent) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(sent < 500, `${sent} events of 100 kB wait in memory`);
  await response.body?.cancel();
  await over.promise;
  await close();
});

test('the stream slots of an account are shared by its keys, and the response names the exceeded limit', async () => {
  const { response, url, close } = await open();
  const as = async (who: Partial<Caller>) => {
    verify = () => ({ ...caller, ...who });
    return fetch(url, { headers: { 'x-api-key': 'pk_x' } });
  };
  const others = [
    await as({ actor: { kind: 'key', id: 'key_2', userId: 'usr_1' } }),
    await as({ actor: { kind: 'key', id: 'key_2', userId: 'usr_1' } }),
  ];
  const refused = await as({ actor: { kind: 'key', id: 'key_3', userId: 'usr_1' } });
  assert.equal(refused.status, 429);
  assert.match(await refused.text(), /"SSE_PER_KEY_CAP".*Limit of 3 open/);
  others.push(await as({ actor: { kind: 'key', id: 'key_9', userId: 'usr_1' }, accountId: 'usr_2' }));
  assert.deepEqual(
    others.map(({ status }) => status),
    [200, 200, 200],
  );
  await response.body?.cancel();
  await waitFor(async () => {
    const again = await as({ actor: { kind: 'key', id: 'key_3', userId: 'usr_1' } });
    others.push(again);
    return again.status === 200;
  });
  await Promise.all(others.map(({ body }) => body?.cancel()));
  await close();
});
