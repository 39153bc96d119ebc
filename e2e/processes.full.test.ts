import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { sendFreshConnections } from '../test/harness/fresh-connections.ts';
import { type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { childrenOf, hasEnded } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';

/** Several API and worker processes, for minutes. */

const REQUESTS = 10_000;
const CLIENTS = 16;

async function start(t: TestContext): Promise<RunningPlatform> {
  const environment = { API_PROCESSES: '2', WORKER_PROCESSES: '2', LOG_LEVEL: 'warn' };
  const platform = await startPlatform({ environment });
  t.after(() => platform.stop());
  return platform;
}

const processesOf = ({ process: { pid = -1 } }: RunningPlatform, name = '') =>
  childrenOf(pid, '/role.', name);

test('no request of a new connection fails while processes are replaced all the time', async (t) => {
  const platform = await start(t);
  let isDone = false;
  const load = sendFreshConnections(`${platform.api}/health`, { clients: CLIENTS, count: REQUESTS }).finally(
    () => {
      isDone = true;
    },
  );
  while (!isDone) {
    const previous = processesOf(platform);
    platform.process.kill('SIGUSR2');
    await waitFor(() => previous.every(hasEnded), {
      timeoutMs: 60_000,
      message: 'the processes to be replaced',
    });
  }
  const { sent, failures } = await load;
  assert.equal(sent, REQUESTS);
  assert.deepEqual(failures, []);
});

test('a process that is killed five times within a minute ends the tree with the reason', async (t) => {
  const platform = await start(t);
  const ended = once(platform.process, 'exit');
  let killed = -1;
  for (let death = 0; death < 5; death++) {
    killed = await waitFor(() => processesOf(platform, 'worker-1').find((pid) => pid !== killed), {
      timeoutMs: 10_000,
    });
    process.kill(killed, 'SIGKILL');
  }
  const [code] = await ended;
  assert.equal(code, 1);
  assert.match(
    platform.output(),
    /marquee: worker-1 ended 5 times within a minute, the last time with SIGKILL/,
  );
});

test('no process survives the first one', async (t) => {
  const platform = await start(t);
  const root = platform.process.pid ?? -1;
  const tree = childrenOf(root, '');
  assert.ok(tree.length > processesOf(platform).length, 'the media process and PostgreSQL are children too');
  process.kill(root, 'SIGKILL');
  await waitFor(() => [root, ...tree].every(hasEnded), { timeoutMs: 30_000, message: 'all of them to end' });
});

test('SIGTERM ends all processes with code 0', async (t) => {
  const platform = await start(t);
  const tree = childrenOf(platform.process.pid ?? -1, '');
  assert.equal(await platform.stop(), 0, platform.output());
  await waitFor(() => tree.every(hasEnded));
});
