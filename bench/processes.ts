/**
 * Measures several processes on one machine: reads with one and two API processes, and webhook deliveries with one
 * and two workers. Client, receiver and PostgreSQL share the cores of this machine, so the scaling on idle cores is
 * computed from the processor time of the server's own processes: a process that takes half of the time for the same
 * number of requests allows twice as many. Both sides run interleaved, and the median counts.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { readEmbeddedUrl } from '../src/platform/db/embedded.ts';
import { openDatabase } from '../src/platform/db/index.ts';
import { createTestCa } from '../test/harness/certificates.ts';
import { createPartner } from '../test/harness/partner.ts';
import { type RunningPlatform, startPlatform, unlimitedHeaders } from '../test/harness/platform.ts';
import { childrenOf } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { sendLoad } from './support/generator.ts';
import { ownSeconds } from './support/processes.ts';
import { isQuick, median, report } from './support/report.ts';

const ROUNDS = isQuick ? 3 : 5;
const SECONDS = isQuick ? 3 : 8;
const CONNECTIONS = 256;
const ENDPOINTS = 15;
const DELIVERIES = isQuick ? 6000 : 18_000;

interface Measured {
  /** Requests or deliveries a second. */
  speed: number;
  /** Microseconds of all serving processes each. */
  processor: number;
  /** Microseconds of the busiest process each: it is the limit where cores are idle. */
  busiest: number;
}

/** Returns the processes that serve: those of the role, or the only one. */
function serving({ process: { pid = 0 } }: RunningPlatform, role: string): number[] {
  const processes = childrenOf(pid, '/role.', `${role}-`);
  return processes.length === 0 ? [pid] : processes;
}

async function measure(pids: readonly number[], work: () => Promise<{ count: number; seconds: number }>) {
  const before = pids.map(ownSeconds);
  const { count, seconds } = await work();
  const spent = pids.map((pid, index) => ((ownSeconds(pid) - (before[index] ?? 0)) * 1e6) / count);
  const processor = spent.reduce((sum, one) => sum + one, 0);
  return { speed: count / seconds, processor, busiest: Math.max(...spent) };
}

interface Side {
  processes: 1 | 2;
  measure(): Promise<Measured>;
}

async function compare(name: string, sides: readonly Side[], target: number): Promise<void> {
  const rounds = new Map<1 | 2, Measured[]>(sides.map((side) => [side.processes, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of sides) rounds.get(side.processes)?.push(await side.measure());
  }
  const of = (processes: 1 | 2, value: (measured: Measured) => number) =>
    median((rounds.get(processes) ?? []).map(value));
  const scaling = of(1, ({ busiest }) => busiest) / of(2, ({ busiest }) => busiest);
  const unit = 'times one process on idle cores';
  report({ name: `${name}, 2 processes`, value: scaling, unit, target: `>= ${target}` });
  for (const processes of [1, 2] as const) {
    const processor = of(processes, (measured) => measured.processor);
    const labeled = `${name}, ${processes} ${processes === 1 ? 'process' : 'processes'}`;
    report({ name: `${labeled}, processor`, value: processor, unit: 'µs each', target: '<= 100000' });
    const speed = of(processes, (measured) => measured.speed);
    report({ name: `${labeled}, absolute`, value: speed, unit: 'per second', target: '>= 0' });
  }
}

async function reads(): Promise<void> {
  const platforms: RunningPlatform[] = [];
  const start = async (processes: 1 | 2): Promise<Side> => {
    const environment = { ROLES: 'api', API_PROCESSES: String(processes), LOG_LEVEL: 'warn' };
    const platform = await startPlatform({ environment });
    platforms.push(platform);
    const headers = await unlimitedHeaders(platform);
    const { id } = await createPartner(platform).createStream();
    const url = `${platform.api}/streams/${id}`;
    const load = async (seconds: number) => {
      const sent = await sendLoad({ url, headers, connections: CONNECTIONS, seconds });
      return { count: sent.requests, seconds: sent.seconds };
    };
    await load(2);
    return { processes, measure: () => measure(serving(platform, 'api'), () => load(SECONDS)) };
  };
  try {
    await compare('GET /streams/{id}', [await start(1), await start(2)], 1.8);
  } finally {
    for (const platform of platforms) await platform.stop();
  }
}

async function startReceiver(folder: string, ca: Awaited<ReturnType<typeof createTestCa>>) {
  const { key, cert } = await ca.issue(['localhost']);
  const files = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await writeFile(files[0] ?? '', key);
  await writeFile(files[1] ?? '', cert);
  const child: ChildProcess = fork(join(import.meta.dirname, 'support/webhook-receiver.ts'), files);
  const [port] = await once(child, 'message');
  return { child, port: Number(port) };
}

/** Multiplies the deliveries that wait. */
async function fill(sql: Sql, jobs: object): Promise<void> {
  await sql`
    insert into delivery_job (workspace_id, webhook_id, event_id, event_created_at)
    select workspace_id, webhook_id, event_id, event_created_at
    from jsonb_populate_recordset(null::delivery_job, ${JSON.stringify(jobs)}::text::jsonb)
    cross join generate_series(1, ${DELIVERIES / ENDPOINTS})`;
}

async function deliveries(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-bench-'));
  const ca = await createTestCa();
  const receiver = await startReceiver(folder, ca);
  const environment = {
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: ca.file,
    LOG_LEVEL: 'warn',
    ROOMS_ENGINE: 'mesh',
  };
  const dataDir = join(folder, 'data');
  const inDatabase = async <T>(look: (sql: Sql) => Promise<T>): Promise<T> => {
    const url = readEmbeddedUrl(dataDir);
    if (url === null) throw new Error('the platform has no database');
    const database = openDatabase({ url, pool: 1, name: 'bench' });
    return look(database.sql).finally(() => database.close());
  };
  const prepare = async (): Promise<object> => {
    const platform = await startPlatform({ dataDir, environment: { ...environment, ROLES: 'api' } });
    const partner = createPartner(platform);
    for (let index = 0; index < ENDPOINTS; index++) {
      await partner.createWebhook(`https://localhost:${receiver.port}/${index}`);
    }
    await partner.createStream();
    const jobs = await inDatabase(async (sql) => [...(await sql`delete from delivery_job returning *`)]);
    await platform.stop();
    if (jobs.length !== ENDPOINTS) throw new Error(`${jobs.length} deliveries instead of ${ENDPOINTS}`);
    return jobs;
  };
  const jobs = await prepare();
  const deliver = async (processes: 1 | 2): Promise<Measured> => {
    const platform = await startPlatform({
      dataDir,
      environment: { ...environment, ROLES: 'worker', WORKER_PROCESSES: String(processes) },
    });
    try {
      return await inDatabase((sql) =>
        measure(serving(platform, 'worker'), async () => {
          await fill(sql, jobs);
          const startedAtMs = performance.now();
          await waitFor(async () => (await sql`select from delivery_job limit 1`).length === 0, {
            timeoutMs: 120_000,
            intervalMs: 50,
          });
          return { count: DELIVERIES, seconds: (performance.now() - startedAtMs) / 1000 };
        }),
      );
    } finally {
      await platform.stop();
    }
  };
  try {
    const sides = ([1, 2] as const).map((processes) => ({ processes, measure: () => deliver(processes) }));
    await compare(`webhook deliveries to ${ENDPOINTS} endpoints on one sink`, sides, 1.6);
  } finally {
    receiver.child.disconnect();
    await rm(folder, { recursive: true, force: true });
  }
}

await reads();
await deliveries();
