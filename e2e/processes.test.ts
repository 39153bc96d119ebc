import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sendFreshConnections } from '../test/harness/fresh-connections.ts';
import { createPartner } from '../test/harness/partner.ts';
import {
  freePort,
  headersOf,
  OWNER_KEY,
  type RunningPlatform,
  startPlatform,
} from '../test/harness/platform.ts';
import { childrenOf, hasEnded, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';

/** Several API and worker processes on one machine. */

const CLIENTS = 16;
const MAX_EVENT_STREAMS = 25;
const ROLES = ['api-0', 'api-1', 'worker-0', 'worker-1'];

let platform: RunningPlatform;
let metricsUrl: string;
before(async () => {
  const metricsPort = await freePort();
  metricsUrl = `http://127.0.0.1:${metricsPort}`;
  platform = await startPlatform({
    environment: { API_PROCESSES: '2', WORKER_PROCESSES: '2', METRICS_PORT: String(metricsPort) },
  });
});
after(() => platform?.stop());

const processOf = (name: string) => singleItem(childrenOf(platform.process.pid ?? -1, `/role.`, name));
const processes = () => ROLES.map(processOf);

async function metrics(): Promise<string> {
  return (await fetch(`${metricsUrl}/metrics`)).text();
}

async function requestCount(): Promise<number> {
  const match = /^marquee_http_request_duration_seconds_count\{operation="health\.get".*\} (\d+)$/m.exec(
    await metrics(),
  );
  return Number(match?.[1] ?? 0);
}

test('metrics of all processes are at one port: counts are summed, memory and event loops have the label `process`', async () => {
  await sendFreshConnections(`${platform.api}/health`, { clients: CLIENTS, count: 40 });
  assert.equal(await requestCount(), 40);
  const text = await metrics();
  for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']) {
    const labels = [...text.matchAll(new RegExp(`^marquee_${name}\\{process="(.*)"\\}`, 'gm'))].map(
      (match) => match[1],
    );
    assert.deepEqual(labels.toSorted(), ['api-0', 'api-1', 'main', 'worker-0', 'worker-1'], name);
  }
  assert.match(text, /^marquee_process_cpu_seconds_total \d/m);
});

test('probes respond on the metrics port', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const response = await fetch(metricsUrl + path);
    assert.deepEqual([response.status, await response.json()], [200, { status: 'OK' }]);
  }
});

test('a stopped process delays the metrics by its deadline only, and its counts remain', async () => {
  const before = await requestCount();
  const pid = processOf('api-1');
  process.kill(pid, 'SIGSTOP');
  try {
    assert.equal(await requestCount(), before);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
});

test('event streams of one key are counted over all processes', async () => {
  const stream = await createPartner(platform).createStream();
  const aborted = new AbortController();
  // An unread response that nothing refers to is closed.
  const opened: Response[] = [];
  const open = async () => {
    const headers = { ...headersOf(OWNER_KEY), accept: 'text/event-stream' };
    const url = `${platform.api}/streams/${stream.id}/tail`;
    const response = await fetch(url, { headers, signal: aborted.signal });
    opened.push(response);
    return response.status;
  };
  try {
    const statuses = await Promise.all(Array.from({ length: MAX_EVENT_STREAMS }, open));
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.equal(await open(), 429);
  } finally {
    aborted.abort();
  }
});

test('SIGUSR2 replaces every process, and no request of a new connection fails', async () => {
  const previous = processes();
  const rolled = Promise.withResolvers<void>();
  const load = sendFreshConnections(`${platform.api}/health`, { clients: CLIENTS, until: rolled.promise });
  platform.process.kill('SIGUSR2');
  try {
    await waitFor(() => previous.every(hasEnded), {
      timeoutMs: 60_000,
      message: 'the previous processes to end',
    });
  } finally {
    rolled.resolve();
  }
  assert.deepEqual((await load).failures, []);
  assert.equal(new Set([...previous, ...processes()]).size, 2 * ROLES.length);
});

for (const name of ['api-0', 'api-1', 'worker-1']) {
  test(`the others continue when ${name} is killed, and it is replaced`, async () => {
    const killed = processOf(name);
    const counted = await requestCount();
    process.kill(killed, 'SIGKILL');
    const { failures } = await sendFreshConnections(`${platform.api}/health`, { clients: 1, count: 10 });
    assert.deepEqual(failures, []);
    await waitFor(() => childrenOf(platform.process.pid ?? -1, '/role.', name).some((pid) => pid !== killed));
    assert.ok((await requestCount()) >= counted, 'counts of the ended process remain');
  });
}
