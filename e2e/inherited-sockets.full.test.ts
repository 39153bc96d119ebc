import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { seedCluster } from '../test/harness/cluster.ts';
import { sendFreshConnections } from '../test/harness/fresh-connections.ts';
import { freePort, serverProgram } from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';

/** Runs the program twice in a row, as systemd does: it holds the socket, which is file descriptor 3, all the time. */
const SERVICE_MANAGER = `
  run() { sh -c 'LISTEN_PID=$$ exec "$@"' sh "$@"; }
  run "$@"
  run "$@"
`;

async function startTwice(t: TestContext, environment: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-sockets-'));
  const dataDir = join(folder, 'data');
  await seedCluster(dataDir);
  const port = await freePort();
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', serverProgram('start')];
  const manager = spawn('sh', ['-c', SERVICE_MANAGER, 'sh', ...program], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'inherit', Reflect.get(server, '_handle').fd],
    env: {
      ...process.env,
      ...{ LISTEN_FDS: '1', LISTEN_FDNAMES: 'marquee.socket', DATA_DIR: dataDir },
      // The port of the socket applies.
      ...{ PORT: String(await freePort()), RTMP_PORT: String(await freePort()), METRICS_PORT: '0' },
      ...environment,
    },
  });
  server.close();
  let output = '';
  manager.stdout.on('data', (text) => {
    output += String(text);
  });
  const ended = once(manager, 'exit');
  const root = () => singleItem(childrenOf(manager.pid ?? -1, 'start.'));
  t.after(async () => {
    manager.kill();
    for (const pid of childrenOf(manager.pid ?? -1, 'start.')) process.kill(pid);
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  return {
    url: `http://127.0.0.1:${port}/api/v1/health`,
    root,
    hasStarted: (times: number) =>
      waitFor(() => output.split('Marquee is running.').length > times, {
        timeoutMs: 60_000,
        message: `start ${times}`,
      }),
  };
}

for (const [shape, environment] of Object.entries({
  'one process': {},
  'several processes': { API_PROCESSES: '2' },
})) {
  test(`connections to a socket of systemd wait while the program is replaced: ${shape}`, async (t) => {
    const { url, root, hasStarted } = await startTwice(t, environment);
    await hasStarted(1);
    const restarted = Promise.withResolvers<void>();
    const load = sendFreshConnections(url, { clients: 4, until: restarted.promise, timeoutMs: 60_000 });
    const first = root();
    process.kill(first, 'SIGTERM');
    try {
      await hasStarted(2);
    } finally {
      restarted.resolve();
    }
    const { failures } = await load;
    assert.deepEqual(failures, []);
    assert.notEqual(root(), first);
  });
}
