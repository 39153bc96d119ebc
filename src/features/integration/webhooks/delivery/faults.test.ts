import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import Stripe from 'stripe';
import { TestClock } from '../../../../../test/harness/clock.ts';
import type { TestDatabase } from '../../../../../test/harness/database.ts';
import { startHttpsSink } from '../../../../../test/harness/https-sink.ts';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { createDeliveryFixture, type DeliveryFixture } from '../../../../../test/webhooks/fixture.ts';
import { systemClock } from '../../../../kernel/clock.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../../platform/db/embedded.ts';
import { openDatabase } from '../../../../platform/db/index.ts';
import { migrate } from '../../../../platform/db/migrate.ts';
import { createLogger } from '../../../../platform/logger.ts';
import type { DeliveryWorker } from './worker.ts';

/** A server of its own that can be restarted; the address stays the same, as an operator's would. */
async function restartableDatabase() {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-restart-'));
  const options = { dataDir: folder, log: createLogger('silent'), settings: { max_connections: '40' } };
  let server: EmbeddedPostgres | null = await startEmbeddedPostgres(options);
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const upstream = connect(Number(new URL(server?.url ?? 'tcp://x:1').port), '127.0.0.1');
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(server.url);
  const address = proxy.address();
  url.port = String(typeof address === 'object' ? address?.port : '');
  const handle = openDatabase({ url: url.href, pool: 10, name: 'restart' });
  await migrate(handle.sql);
  const database: TestDatabase = { ...handle, url: url.href };
  return {
    database,
    stop: async () => {
      await server?.stop();
      server = null;
    },
    start: async () => {
      server = await startEmbeddedPostgres(options);
    },
    async remove() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let f: DeliveryFixture;
const started: DeliveryWorker[] = [];
let server: Awaited<ReturnType<typeof restartableDatabase>>;

before(async () => {
  server = await restartableDatabase();
  f = await createDeliveryFixture({ database: server.database });
});
after(async () => {
  await f?.close();
  await server.remove();
});
beforeEach(async () => {
  await f.database.sql`truncate delivery_job, delivery_log, webhook, event`;
  f.sink.requests.length = 0;
  f.sink.reply = () => ({});
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.stop()));
});

const start: DeliveryFixture['worker'] = (...parts) => {
  const worker = f.worker(...parts);
  worker.start();
  started.push(worker);
  return worker;
};

const addWebhook = async (url = `${f.sink.url}/hook`) => {
  const { row, signingSecret } = await f.webhooks.create(f.workspace, { url });
  return { id: row.id, secret: signingSecret };
};

test('PostgreSQL is restarted under load: every committed event arrives, none is finished twice', async () => {
  const { id } = await addWebhook();
  const other = await addWebhook(`${f.sink.url}/other`);
  f.sink.reply = (_request, n) => ({ delayMs: n % 20 });
  start({ timeoutMs: 3000 });
  start({ timeoutMs: 3000 }, { bus: { subscribe: () => () => {} } });
  const committed: string[] = [];
  let isLoaded = true;
  let failed = 0;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (isLoaded) {
        try {
          committed.push(await f.emit());
        } catch {
          failed += 1;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    }),
  );
  await waitFor(() => committed.length >= 100);
  await server.stop();
  await waitFor(() => failed > 0);
  await server.start();
  const before = committed.length;
  await waitFor(() => committed.length >= before + 100, { timeoutMs: 20_000 });
  isLoaded = false;
  await load;

  // An event whose commit was answered by the end of the server may be there as well.
  const stored = await f.db.selectFrom('event').select('id').execute();
  const kept = new Set(stored.map((event) => event.id));
  for (const event of committed) assert.ok(kept.has(event), 'what was committed is kept');
  await waitFor(async () => (await f.pendingJobs()) === 0, { timeoutMs: 40_000 });
  for (const webhook of [id, other.id]) {
    const rows = await f.logged(webhook, kept.size);
    const successes = rows.filter(({ status }) => status === 'SUCCESS').map(({ event_id }) => event_id);
    assert.deepEqual(new Set(successes), kept);
    assert.equal(successes.length, kept.size, 'each finished once');
  }
});

test('a certificate of another name and an untrusted certificate fail with the reason', async () => {
  const wrong = await startHttpsSink({ ca: f.sink.ca, names: ['other.test'] });
  const unknown = await startHttpsSink();
  start();
  for (const [sink, message] of [
    [wrong, /ALTNAME/],
    [unknown, /SIGNATURE_FAILURE|SELF_SIGNED|UNABLE_TO_VERIFY/],
  ] as const) {
    const { id } = await addWebhook(`${sink.url}/hook`);
    await f.emit();
    const [row] = await f.logged(id, 1);
    assert.equal(row?.status, 'FAILED');
    assert.match(row?.error_message ?? '', message);
    assert.equal(sink.requests.length, 0);
    await f.webhooks.remove(f.workspace.workspaceId, id);
  }
  await Promise.all([wrong.close(), unknown.close()]);
});

test('a response of 50 MB costs no more than the stored 16 KiB', async () => {
  const { id } = await addWebhook();
  const body = Buffer.alloc(50 * 2 ** 20, 'x');
  f.sink.reply = () => ({ body });
  start({ timeoutMs: 5000 });
  await f.emit();
  const [row] = await f.logged(id, 1);
  assert.equal(row?.status, 'SUCCESS');
  assert.equal(row.response_body?.length, 16 * 1024);
});

test('jumps of this machine’s clock move signatures, not the schedule', async () => {
  const { webhooks: verifier } = new Stripe('sk_test_unused');
  const clock = new TestClock(systemClock.ms());
  const { id, secret } = await addWebhook();
  start({ retrySeconds: [0.3, 0.3, 600] }, { clock });
  const jumps = [86_400_000, -172_800_000, 0];
  f.sink.reply = (_request, n) => {
    clock.advance(jumps[n] ?? 0);
    return { status: 500 };
  };
  await f.emit();
  const rows = await f.logged(id, 3);
  assert.deepEqual(rows.map(({ attempt }) => attempt).sort(), [1, 2, 3]);
  const [first, second, third] = f.sink.requests;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  for (const [earlier, later] of [
    [first, second],
    [second, third],
  ] as const) {
    const gap = later.at - earlier.at;
    assert.ok(gap >= 300 && gap < 3000, `${gap} ms between two attempts`);
  }
  const times = [first, second, third].map((request) => {
    const header = String(request.headers['svc-signature']);
    verifier.constructEvent(request.rawBody, header, secret, Number.MAX_SAFE_INTEGER);
    return Number(/^t=(\d+)/.exec(header)?.[1]);
  });
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 86_399);
  assert.ok((times[2] ?? 0) - (times[1] ?? 0) <= -172_799);
});

test('results that cannot be written delay sending, so that a crash repeats few deliveries', async () => {
  await addWebhook();
  for (let n = 0; n < 400; n++) await f.emit();
  const locked = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const lock = f.database.sql.begin(async (sql) => {
    await sql`lock table delivery_log in exclusive mode`;
    locked.resolve();
    await free.promise;
  });
  await locked.promise;
  start({ maxHeld: 50 });
  try {
    await waitFor(() => f.sink.requests.length >= 100);
    let sentBefore = 0;
    await waitFor(
      async () => {
        const [row] = await f.database.sql`select count(*)::int as n from delivery_job where lease % 2 = 1`;
        const isStill = row?.n === f.sink.requests.length && sentBefore === f.sink.requests.length;
        sentBefore = f.sink.requests.length;
        return isStill;
      },
      { intervalMs: 200 },
    );
    assert.ok(sentBefore <= 100, `${sentBefore} sent and not written down`);
  } finally {
    free.resolve();
    await lock;
  }
  await waitFor(async () => (await f.pendingJobs()) === 0);
  assert.equal(f.sink.requests.length, 400, 'each was sent once');
});
