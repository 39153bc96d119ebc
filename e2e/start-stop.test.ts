import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, type TestContext, test } from 'node:test';
import {
  headersOf,
  OWNER_KEY,
  type RunningPlatform,
  serverProgram,
  startPlatform,
} from '../test/harness/platform.ts';
import { childrenOf, only } from '../test/harness/processes.ts';
import { until } from '../test/harness/wait.ts';

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

/** As many versions before have left it. */
async function leaveCompiledCode(): Promise<void> {
  await mkdir(compiled(), { recursive: true });
  for (const [index, name] of ['oldest', 'newest'].entries()) {
    const path = join(compiled(), name);
    await writeFile(path, '');
    await truncate(path, 20 * 2 ** 20);
    await utimes(path, 1000 + index, 1000 + index);
  }
}

/** Starts the program where it cannot. @returns its last words. */
async function failingStart(
  t: TestContext,
  { port = 0, rtmpPort = 0, dataDir }: { port?: number; rtmpPort?: number; dataDir?: string },
): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'marquee-busy-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', serverProgram('start')], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...process.env,
      DATA_DIR: dataDir ?? join(dir, 'data'),
      PORT: String(port),
      RTMP_PORT: String(rtmpPort),
      METRICS_PORT: '0',
    },
  });
  const [words, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  assert.notEqual(code, 0);
  assert.equal(words.trim().split('\n').length, 1, `one line: ${words}`);
  return words.trim();
}

test('a data folder or a port that is in use stops the start with one line', async (t) => {
  const { port, rtmpPort, dataDir } = platform;
  assert.match(await failingStart(t, { dataDir }), /^marquee: another Marquee process already runs on /);
  assert.match(await failingStart(t, { port }), new RegExp(`port ${port} is already in use`));
  assert.match(await failingStart(t, { rtmpPort }), new RegExp(`port ${rtmpPort} is already in use`));
});

test('compiled code of versions before does not pile up', async () => {
  assert.deepEqual(await readdir(compiled()), ['newest']);
});

test('SIGTERM drains: the request under way is answered and every process is gone', async () => {
  const root = platform.process.pid ?? -1;
  const media = only(childrenOf(root, '/media.'));
  // Under way: its headers are there, half of its body is still to come.
  const body = JSON.stringify({ title: 'Under way' });
  const upload = request(`${platform.api}/streams`, {
    method: 'POST',
    headers: {
      ...headersOf(OWNER_KEY),
      'content-length': Buffer.byteLength(body),
      // The platform says when it has taken it.
      expect: '100-continue',
    },
  });
  const answer = once(upload, 'response');
  upload.flushHeaders();
  await once(upload, 'continue');
  upload.write(body.slice(0, 5));
  const stopped = platform.stop();
  await until(
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
  await until(() => output.includes('Marquee is running.'), { timeoutMs: 30_000 });
  const program = only(childrenOf(shell.pid ?? -1, 'start.'));
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
  await until(() => tree.every(isGone), { timeoutMs: 30_000, message: 'all of it to end' });
  await assert.rejects(readFile(join(dataDir, 'postgres/postmaster.pid')), 'PostgreSQL was stopped cleanly');
});
