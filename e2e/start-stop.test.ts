import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, type TestContext, test } from 'node:test';
import { seedCluster } from '../test/harness/cluster.ts';
import {
  freePort,
  headersOf,
  OWNER_KEY,
  type RunningPlatform,
  serverProgram,
  startPlatform,
} from '../test/harness/platform.ts';
import { childrenOf, singleItem } from '../test/harness/processes.ts';
import { waitFor } from '../test/harness/wait-for.ts';

let platform: RunningPlatform;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'marquee-start-'));
  await leaveCompiledCode();
  platform = await startPlatform({ dataDir: join(folder, 'data') });
});
after(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});

const compiled = () => join(folder, 'data/compiled');

/** Leaves compiled code as many previous versions would have. */
async function leaveCompiledCode(): Promise<void> {
  await mkdir(compiled(), { recursive: true });
  for (const [index, name] of ['oldest', 'newest'].entries()) {
    const path = join(compiled(), name);
    await writeFile(path, '');
    await truncate(path, 20 * 2 ** 20);
    await utimes(path, 1000 + index, 1000 + index);
  }
}

/** Starts the program with a separate data folder unless the environment names another one. */
async function begin(t: TestContext, environment: Record<string, string>) {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-start-'));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', serverProgram('start')], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      DATA_DIR: join(dir, 'data'),
      PORT: '0',
      RTMP_PORT: '0',
      METRICS_PORT: '0',
      ...environment,
    },
  });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill();
    await ended;
    await rm(dir, { recursive: true, force: true });
  });
  return { child, ended };
}

/** Starts the program in a broken environment. @returns its final output. */
async function failingStart(t: TestContext, environment: Record<string, string>): Promise<string> {
  const port = await freePort();
  const { child, ended } = await begin(t, { PORT: String(port), ...environment });
  const isHealthy = async () =>
    fetch(`http://127.0.0.1:${port}/api/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  let wasHealthy = false;
  const watch = setInterval(async () => {
    wasHealthy ||= environment.PORT === undefined && (await isHealthy());
  }, 50);
  const [words, [code]] = await Promise.all([text(child.stderr), ended]);
  clearInterval(watch);
  assert.notEqual(code, 0);
  assert.equal(words.trim().split('\n').length, 1, `one line: ${words}`);
  assert.equal(wasHealthy, false, `/health answered before: ${words}`);
  return words.trim();
}

async function isTaken(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return false;
  } catch (error) {
    return Object(error).code === 'EADDRINUSE';
  } finally {
    server.close();
  }
}

test('a data folder or a port that is in use stops the start with one line', async (t) => {
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const names = ['PORT', 'RTMP_PORT', 'MEDIA_PORT', 'METRICS_PORT'];
  const [line, ...lines] = await Promise.all([
    failingStart(t, { DATA_DIR: platform.dataDir }),
    ...names.map((name) => failingStart(t, { [name]: String(port) })),
  ]);
  assert.match(line, /^marquee: another Marquee process already runs on /);
  for (const words of lines) assert.match(words, new RegExp(`^marquee: port ${port} is already in use`));
});

test('all ports are bound at the start, and the API responds last', async (t) => {
  const names = ['PORT', 'RTMP_PORT', 'MEDIA_PORT', 'METRICS_PORT'];
  const ports = await Promise.all(names.map(() => freePort()));
  const environment = Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
  const dataDir = join(folder, 'ports');
  await seedCluster(dataDir);
  const { child } = await begin(t, { DATA_DIR: dataDir, ...environment });
  // The database starts after the ports, and long before everything else.
  const pidFile = join(dataDir, 'postgres/postmaster.pid');
  await waitFor(() => existsSync(pidFile), { timeoutMs: 30_000, intervalMs: 1 });
  assert.equal(child.exitCode, null);
  assert.deepEqual(await Promise.all(ports.map(isTaken)), [true, true, true, true], names.join());
  const [api, rtmp] = ports;
  const health = await fetch(`http://127.0.0.1:${api}/api/v1/health`);
  assert.equal(health.status, 200, 'who comes early waits');
  assert.equal((await handshake(rtmp ?? 0)).at(0), 3);
});

test('two concurrent starts on the same ports leave one running, and the other reports the error', async () => {
  const [port, rtmpPort] = [await freePort(), await freePort()];
  const starts = await Promise.allSettled([1, 2].map(() => startPlatform({ port, rtmpPort })));
  const running = starts.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
  const failed = starts.filter((start) => start.status === 'rejected').map(({ reason }) => String(reason));
  try {
    assert.equal(running.length, 1, failed.join('\n'));
    assert.match(failed.join(), new RegExp(`marquee: port ${port} is already in use`));
    assert.equal((await fetch(`${running[0]?.api}/health`)).status, 200);
  } finally {
    await Promise.all(running.map((one) => one.stop()));
  }
});

/** Returns the first bytes of an RTMP server's response. */
async function handshake(port: number): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.concat([Buffer.of(3), Buffer.alloc(1536)]));
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return answer;
}

test('the RTMP port stays bound while the media process restarts, and encoders wait', async () => {
  const media = singleItem(childrenOf(platform.process.pid ?? -1, '/media.'));
  process.kill(media, 'SIGKILL');
  await waitFor(() => !childrenOf(platform.process.pid ?? -1, '/media.').includes(media), { intervalMs: 1 });
  const [answer] = await Promise.all([
    handshake(platform.rtmpPort),
    isTaken(platform.rtmpPort).then((isIt) => assert.ok(isIt)),
  ]);
  assert.equal(answer.at(0), 3);
});

test('compiled code of versions before does not pile up', async () => {
  assert.deepEqual(await readdir(compiled()), ['newest']);
});

test('SIGTERM drains: the current request is answered and every process exits', async () => {
  const root = platform.process.pid ?? -1;
  const media = singleItem(childrenOf(root, '/media.'));
  // The request is in progress: its headers and half of its body have been sent.
  const body = JSON.stringify({ title: 'Under way' });
  const upload = request(`${platform.api}/streams`, {
    method: 'POST',
    headers: {
      ...headersOf(OWNER_KEY),
      'content-length': Buffer.byteLength(body),
      // The platform confirms the headers before the body is sent.
      expect: '100-continue',
    },
  });
  const answer = once(upload, 'response');
  upload.flushHeaders();
  await once(upload, 'continue');
  upload.write(body.slice(0, 5));
  const stopped = platform.stop();
  await waitFor(
    () =>
      fetch(`${platform.api}/health`).then(
        () => false,
        () => true,
      ),
    {
      message: 'no new connection is taken',
    },
  );
  upload.end(body.slice(5));
  const [response] = await answer;
  assert.equal(response.statusCode, 201);
  response.resume();
  assert.equal(await stopped, 0, platform.output());
  assert.throws(() => process.kill(media, 0), 'the media process is gone');
  assert.deepEqual(childrenOf(1, platform.dataDir), [], 'no database is left behind');
});

/** Sends a request on a new connection. */
async function statusOf(url: string): Promise<number | undefined> {
  const [response] = await once(request(url, { agent: false }).end(), 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

test('SIGTERM under load fails no request of clients that follow /readyz', async (t) => {
  const draining = await startPlatform({ environment: { DRAIN_DELAY: '3' } });
  t.after(() => draining.stop());
  const outcomes: unknown[] = [];
  let isServing = true;
  const poll = async () => {
    while (isServing) outcomes.push(await statusOf(`${draining.api}/health`).catch((error) => error));
  };
  const clients = Array.from({ length: 8 }, poll);
  await waitFor(() => outcomes.length > 100);
  const stopped = draining.stop();
  await waitFor(async () => (await statusOf(`${draining.url}/readyz`)) === 503, { intervalMs: 1 });
  const before = outcomes.length;
  await waitFor(() => outcomes.length > before + 30, { intervalMs: 1 });
  isServing = false;
  await Promise.all(clients);
  assert.deepEqual(new Set(outcomes), new Set([200]));
  assert.equal(await stopped, 0, draining.output());
});

test('it drains when its parent is killed, and leaves no process behind', async () => {
  const dataDir = join(folder, 'data');
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', serverProgram('start')];
  // The shell stays, as the program is not the last thing that it runs.
  const shell = spawn('sh', ['-c', `${command.join(' ')}; true`], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: String(platform.port),
      RTMP_PORT: String(platform.rtmpPort),
      METRICS_PORT: '0',
    },
  });
  let output = '';
  shell.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  await waitFor(() => output.includes('Marquee is running.'), { timeoutMs: 30_000 });
  const program = singleItem(childrenOf(shell.pid ?? -1, 'start.'));
  const tree = [program, ...childrenOf(program, '')];
  assert.ok(tree.length > 2, 'the media process and PostgreSQL are there');
  shell.kill('SIGKILL');
  const isGone = (pid: number) => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  };
  await waitFor(() => tree.every(isGone), { timeoutMs: 30_000, message: 'all of it to end' });
  await assert.rejects(readFile(join(dataDir, 'postgres/postmaster.pid')), 'PostgreSQL was stopped cleanly');
});
