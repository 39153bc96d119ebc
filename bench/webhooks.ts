/**
 * Measures webhook deliveries: commit to receipt when idle, deliveries per second against a raw undici loop
 * that sends the same signed bodies to the same receiver, those of a single endpoint and of one that takes 80
 * ms, and the time of a claim in the presence of a dead endpoint's backlog.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { claim, findDue } from '../src/features/integration/webhooks/delivery/repository.ts';
import { renderDelivery } from '../src/features/integration/webhooks/delivery/signature.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { newId } from '../src/kernel/ids.ts';
import { createOutbound } from '../src/platform/outbound/index.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { createDeliveryFixture, type DeliveryFixture, thingMade } from '../test/webhooks/fixture.ts';
import { machineSeconds } from './support/processes.ts';
import { isQuick, median, report } from './support/report.ts';

const IDLE_EVENTS = 200;
/** Endpoints, and the ratio to the raw loop that they are to reach together. */
const ENDPOINTS = [
  { hosts: 15, target: '>= 0.3' },
  { hosts: 1, target: '>= 0.2' },
];
const DELIVERIES = isQuick ? 9000 : 18_000;
const SLOW_MS = 80;
const SLOW_DELIVERIES = 1500;
const ROUNDS = isQuick ? 3 : 5;
const IN_FLIGHT = 64;
const BACKLOG = 50_000;
/** Body of a stream event. */
const BODY = JSON.stringify({
  id: '6e4f8f0e-8a75-4d8e-9d4b-0d1f1f6b2c11',
  type: 'thing.made',
  created: 1_795_165_200,
  livemode: false,
  data: { n: 123_456 },
});

const percentile = (values: number[], p: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))] ?? 0;

async function idle(f: DeliveryFixture): Promise<void> {
  const { row } = await f.webhooks.create(f.workspace, { url: `${f.sink.url}/idle` });
  const worker = f.worker();
  worker.start();
  const times: number[] = [];
  for (let n = -20; n < IDLE_EVENTS; n++) {
    const count = f.sink.requests.length;
    await f.emit(n + 20);
    const committedAt = performance.timeOrigin + performance.now();
    const requests = await waitFor(() => f.sink.requests.length > count && f.sink.requests, {
      intervalMs: 1,
    });
    if (n >= 0) times.push(Math.max(0, (requests.at(-1)?.at ?? 0) - committedAt));
    await sleep(10);
  }
  await worker.stop();
  await f.webhooks.remove(f.workspace.workspaceId, row.id);
  const unit = 'ms from commit to receipt, idle';
  report({ name: 'webhook delivery, p50', value: percentile(times, 0.5), unit, target: '<= 5' });
  report({ name: 'webhook delivery, p99', value: percentile(times, 0.99), unit, target: '<= 100' });
}

interface Receiver {
  child: ChildProcess;
  port: number;
}

async function startReceiver(f: DeliveryFixture, folder: string, delayMs = 0): Promise<Receiver> {
  const names = Array.from({ length: 15 }, (_, n) => `host${n}.test`);
  const { key, cert } = await f.sink.ca.issue([...names, 'localhost']);
  const files = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await writeFile(files[0] ?? '', key);
  await writeFile(files[1] ?? '', cert);
  const child = fork(join(import.meta.dirname, 'support/webhook-receiver.ts'), [...files, String(delayMs)]);
  const [port] = await once(child, 'message');
  return { child, port: Number(port) };
}

interface Speed {
  /** Deliveries a second. */
  speed: number;
  /** Processor microseconds of the machine per delivery, including the receiver and the database. */
  processor: number;
}

function startClock(count: number): () => Speed {
  const [startedAt, processorSec] = [performance.now(), machineSeconds()];
  return () => ({
    speed: (count * 1000) / (performance.now() - startedAt),
    processor: ((machineSeconds() - processorSec) * 1e6) / count,
  });
}

/** Sends in a bare loop over kept-alive connections. */
async function rawLoop(receiver: Receiver, count: number): Promise<Speed> {
  const pool = new Pool(`https://localhost:${receiver.port}`, { connections: IN_FLIGHT, allowH2: false });
  const content = { url: '', secret: 'whsec_x', eventId: 'e', eventType: 'thing.made', body: BODY };
  const { headers } = renderDelivery(content, Math.floor(systemClock.ms() / 1000));
  let left = count;
  const loop = async () => {
    while (left-- > 0) {
      const response = await pool.request({ path: '/', method: 'POST', headers, body: BODY });
      await response.body.dump();
    }
  };
  const read = startClock(count);
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  const speed = read();
  await pool.close();
  return speed;
}

/** Everything: claim, guard, signature, send, log, counters. */
async function fullPath(f: DeliveryFixture, hosts: number, port: number, count: number): Promise<Speed> {
  const ids: string[] = [];
  for (let n = 0; n < hosts; n++) {
    const url = `https://host${n}.test:${port}/in`;
    ids.push((await f.webhooks.create(f.workspace, { url })).row.id);
  }
  await f.events.transaction(async (_tx, append) => {
    for (let n = 0; n < count / hosts; n++) {
      await append(thingMade, f.workspace.workspaceId, { n: 123_456 });
    }
  });
  await f.database.sql`analyze delivery_job`;
  const worker = f.worker({ timeoutMs: 10_000 });
  const read = startClock(count);
  worker.start();
  // By the end of the key, where no removed rows lie: a look from the front would be the most that the database has to do.
  await waitFor(
    async () => (await f.database.sql`select from delivery_job order by id desc limit 1`).length === 0,
    {
      timeoutMs: 60_000,
      intervalMs: 20,
    },
  );
  const speed = read();
  await worker.stop();
  const rows = await f.database.sql`delete from delivery_log where status = 'SUCCESS' returning id`;
  if (rows.length !== count) throw new Error(`${rows.length} of ${count} deliveries succeeded`);
  for (const id of ids) await f.webhooks.remove(f.workspace.workspaceId, id);
  return speed;
}

async function throughput(f: DeliveryFixture, folder: string): Promise<void> {
  const receiver = await startReceiver(f, folder);
  for (const { hosts, target } of ENDPOINTS) {
    const rounds: { raw: Speed; full: Speed }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const raw = await rawLoop(receiver, DELIVERIES);
      rounds.push({ raw, full: await fullPath(f, hosts, receiver.port, DELIVERIES) });
    }
    const of = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
    const name = `webhook deliveries to ${hosts} endpoints, full path`;
    const unit = 'ratio to a raw undici loop';
    report({ name, value: of(({ raw, full }) => full.speed / raw.speed), unit, target });
    const processor = of(({ raw, full }) => raw.processor / full.processor);
    report({ name: `${name}, processor`, value: processor, unit, target: '>= 0' });
    report({
      name: `${name}, absolute`,
      value: of(({ full }) => full.speed),
      unit: 'deliveries/s',
      target: '>= 0',
    });
    const spent = of(({ full }) => full.processor);
    report({
      name: `${name}, processor a delivery`,
      value: spent,
      unit: 'µs of the machine',
      target: '>= 0',
    });
  }
  receiver.child.disconnect();
}

async function slowReceiver(f: DeliveryFixture, folder: string): Promise<void> {
  const receiver = await startReceiver(f, folder, SLOW_MS);
  const { speed: value } = await fullPath(f, 1, receiver.port, SLOW_DELIVERIES);
  receiver.child.disconnect();
  const name = `webhook deliveries to one endpoint that takes ${SLOW_MS} ms`;
  report({ name, value, unit: 'deliveries/s', target: '>= 200' });
}

async function backlog(f: DeliveryFixture): Promise<void> {
  const [dead, healthy] = [newId('wh'), newId('wh')];
  await f.database.sql`
    insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at)
    select 'wsp', id, gen_random_uuid(), now() from generate_series(1, ${BACKLOG}), (values (${dead})) d (id)`;
  await f.database.sql`
    insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at)
    select 'wsp', ${healthy}, gen_random_uuid(), now() from generate_series(1, 400)`;
  const times: number[] = [];
  for (let n = 0; n < 100; n++) {
    const startedAt = performance.now();
    const { due } = await findDue(f.db);
    await claim(
      f.db,
      due.map((webhookId) => ({ webhookId, cap: 4 })),
      30,
    );
    times.push(performance.now() - startedAt);
  }
  await f.database.sql`truncate delivery_job`;
  const unit = `ms to find and claim beside ${BACKLOG} due jobs of one endpoint`;
  report({ name: 'webhook claim, p50', value: percentile(times, 0.5), unit, target: '<= 2' });
}

const f = await createDeliveryFixture({
  outbound: createOutbound({
    allowPrivate: ['127.0.0.0/8'],
    dnsServers: [],
    resolve: async () => ['127.0.0.1'],
  }),
});
const folder = await mkdtemp(join(tmpdir(), 'marquee-bench-'));
try {
  await idle(f);
  await slowReceiver(f, folder);
  await throughput(f, folder);
  await backlog(f);
} finally {
  await f.close();
  await rm(folder, { recursive: true });
}
