/**
 * Measures webhooks at scale: the delay of healthy endpoints in the presence of unresponsive ones, the first
 * page of a delivery log of a million rows, and the memory of kept-alive connections to a thousand hosts.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOutbound } from '../src/platform/outbound/index.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { createDeliveryFixture, type DeliveryFixture } from '../test/webhooks/fixture.ts';
import { median, report } from './support/report.ts';

const ENDPOINTS = 20;
const BLACK_HOLES = [0, 1, 5];
const ROUNDS = 3;
const SECONDS = 4;
const WARM_UP_MS = 1000;
const EVENTS_PER_SECOND = 20;
const LOG_ROWS = 1_000_000;
const HOSTS = 1000;

const percentile = (values: number[], p: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))] ?? 0;
const now = () => performance.timeOrigin + performance.now();

/** Returns the 99th percentile, in ms from commit to receipt, of the responding endpoints. */
async function healthyP99(f: DeliveryFixture, blackHoles: number, holePort: number): Promise<number> {
  const ids: string[] = [];
  for (let n = 0; n < ENDPOINTS; n++) {
    const url = n < blackHoles ? `https://localhost:${holePort}/` : `${f.sink.url}/${n}`;
    ids.push((await f.webhooks.create(f.workspace, { url })).row.id);
  }
  f.sink.requests.length = 0;
  const worker = f.worker({ timeoutMs: 10_000, drainMs: 0 });
  worker.start();
  const committedAt = new Map<string, number>();
  const startedAt = now();
  const count = SECONDS * EVENTS_PER_SECOND;
  for (let n = 0; n < count; n++) {
    const wait = startedAt + (n * 1000) / EVENTS_PER_SECOND - now();
    if (wait > 0) await sleep(wait);
    committedAt.set(await f.emit(n), now());
  }
  const expected = count * (ENDPOINTS - blackHoles);
  await waitFor(() => f.sink.requests.length >= expected, { timeoutMs: 30_000 });
  const delays = f.sink.requests.flatMap((request) => {
    const at = committedAt.get(String(request.headers['svc-event-id'])) ?? 0;
    // Excludes the time in which connections are established.
    return at - startedAt < WARM_UP_MS ? [] : [Math.max(0, request.at - at)];
  });
  for (const id of ids) await f.webhooks.remove(f.workspace.workspaceId, id);
  await worker.stop();
  return percentile(delays, 0.99);
}

async function fairness(f: DeliveryFixture): Promise<void> {
  const hole = createServer((socket) => socket.on('error', () => {}));
  hole.listen(0, '127.0.0.1');
  await once(hole, 'listening');
  const address = hole.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const p99s = new Map<number, number[]>(BLACK_HOLES.map((count) => [count, []]));
  try {
    await healthyP99(f, 0, port);
    // Interleaved, with the median: other load on the machine affects all of them.
    for (let round = 0; round < ROUNDS; round++) {
      for (const [count, list] of p99s) list.push(await healthyP99(f, count, port));
    }
  } finally {
    hole.close();
  }
  const none = median(p99s.get(0) ?? []);
  for (const count of BLACK_HOLES.filter((one) => one > 0)) {
    const value = median(p99s.get(count) ?? []) / none;
    const unit = `ratio of the healthy endpoints' p99 to that without black holes (${Math.round(none)} ms)`;
    report({ name: `webhooks, ${count} of ${ENDPOINTS} black holes`, value, unit, target: '<= 2' });
  }
}

async function firstPage(f: DeliveryFixture): Promise<void> {
  const fill = async (rows: number) => {
    const { row } = await f.webhooks.create(f.workspace, { url: `${f.sink.url}/log`, isActive: false });
    await f.database.sql`
      insert into delivery_log (id, workspace_id, webhook_id, event_id, event_type, trigger, attempt, status,
        response_status, response_body, latency_ms, created_at)
      select 'dlv_' || lpad(to_hex(n), 26, '0'), ${f.workspace.workspaceId}, ${row.id}, gen_random_uuid(),
        'thing.made', 'EVENT', 1, 'SUCCESS', 200, 'ok', 5, now() - make_interval(secs => ${rows}::int - n)
      from generate_series(1, ${rows}::int) n`;
    return row.id;
  };
  const small = await fill(1000);
  const large = await fill(LOG_ROWS);
  await f.database.sql`vacuum analyze delivery_log`;
  const page = {
    fetchLimit: 26,
    limit: 25,
    order: 'desc',
    after: null,
    createdAfter: null,
    createdBefore: null,
  } as const;
  const time = async (id: string) => {
    const startedAt = performance.now();
    const rows = await f.webhooks.deliveries(f.workspace.workspaceId, id, {}, page);
    if (rows.length !== page.fetchLimit) throw new Error(`${rows.length} rows`);
    return performance.now() - startedAt;
  };
  const times = new Map<string, number[]>([
    [small, []],
    [large, []],
  ]);
  for (let n = 0; n < 200; n++) for (const [id, list] of times) list.push(await time(id));
  const value = median(times.get(large) ?? []) / median(times.get(small) ?? []);
  const unit = 'ratio of the p50 of the first page to that of 1,000 rows';
  report({ name: `delivery log of ${LOG_ROWS} rows`, value, unit, target: '<= 1.5' });
}

/** Measures the resident memory of kept-alive connections to many hosts. */
async function memory(f: DeliveryFixture): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-bench-'));
  const names = Array.from({ length: HOSTS }, (_, n) => `host${n}.many.test`);
  const { key, cert } = await f.sink.ca.issue(['*.many.test']);
  const files = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await writeFile(files[0] ?? '', key);
  await writeFile(files[1] ?? '', cert);
  const child = fork(join(import.meta.dirname, 'support/webhook-receiver.ts'), files);
  const [port] = await once(child, 'message');
  const options = { allowPrivate: ['127.0.0.0/8'], dnsServers: [], resolve: async () => ['127.0.0.1'] };
  const outbound = createOutbound(options);
  const send = (name: string) =>
    outbound.request({
      url: `https://${name}:${port}/`,
      method: 'POST',
      headers: {},
      body: '{}',
      timeoutMs: 10_000,
    });
  try {
    for (const name of names.slice(0, 20)) await send(name);
    const before = process.memoryUsage().rss;
    for (let n = 0; n < HOSTS; n += 50) await Promise.all(names.slice(n, n + 50).map(send));
    const value = (process.memoryUsage().rss - before) / 2 ** 20;
    report({ name: `webhooks to ${HOSTS} hosts`, value, unit: 'MB resident more', target: '<= 150' });
  } finally {
    await outbound.close();
    child.disconnect();
    await rm(folder, { recursive: true });
  }
}

const f = await createDeliveryFixture();
try {
  await memory(f);
  await fairness(f);
  await firstPage(f);
} finally {
  await f.close();
}
