import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './platform.ts';
import { waitFor } from './wait-for.ts';

/** Separate Valkey or Redis server, without persistence. */
export interface TestRedis {
  url: string;
  /** Suspends it during any operation: connections stay open and do not respond. */
  freeze(): void;
  thaw(): void;
  /** Kills it; `start` brings it back on the same port, empty. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** The reason that a skipped test shows. */
export const NO_REDIS = 'neither valkey-server nor redis-server is installed';

/** The server program on PATH, or null: `test(name, { skip: redisProgram === null })`. */
export const redisProgram: string | null = ['valkey-server', 'redis-server'].find(onPath) ?? null;

function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export async function startTestRedis(): Promise<TestRedis> {
  if (redisProgram === null) throw new Error(NO_REDIS);
  const folder = await mkdtemp(join(tmpdir(), 'marquee-redis-'));
  const port = await freePort();
  let server = await startServer(redisProgram, port, folder);
  const redis: TestRedis = {
    url: `redis://127.0.0.1:${port}`,
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async kill() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    },
    async start() {
      server = await startServer(redisProgram, port, folder);
    },
    async close() {
      await redis.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return redis;
}

async function startServer(program: string | null, port: number, folder: string): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn(program ?? '', [...args, '--dir', folder], { stdio: 'ignore' });
  await waitFor(() => answers(port), { message: 'the test Redis' });
  return server;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(chunk.toString().startsWith('+PONG'));
    });
    socket.once('error', () => resolve(false));
  });
}
