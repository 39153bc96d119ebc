import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/db/embedded.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { seedCluster } from './cluster.ts';

/** Separate migrated PostgreSQL server, which can be suspended and stopped. */
export interface OwnPostgres {
  url: string;
  /** Makes it accept connections without responding, until `resume`. */
  freeze(): Promise<void>;
  resume(): Promise<void>;
  /** Makes it refuse connections, until `start`. */
  stop(): Promise<void>;
  /** As `stop`, by SIGKILL to all its processes. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = join(tmpdir(), `marquee-postgres-${process.pid}-${Math.random().toString(36).slice(2)}`);
  await seedCluster(dataDir);
  const start = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir, log: createLogger('silent'), settings: { fsync: 'off' } });
  let server = await start();
  // The server has another port after each start.
  const way = createWay(() => Number(new URL(server.url).port));
  const address = new URL(server.url);
  address.port = String(await way.open());
  const signal = async (name: NodeJS.Signals) => {
    const pidFile = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8');
    const postmaster = Number(pidFile.split('\n', 1)[0]);
    for (const pid of [postmaster, ...(await childrenOf(postmaster))]) send(pid, name);
  };
  return {
    url: address.href,
    freeze: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    async stop() {
      way.close();
      await server.stop();
    },
    async kill() {
      way.close();
      await signal('SIGKILL');
      await server.crashed;
    },
    async start() {
      server = await start();
      await way.open();
    },
    async close() {
      await signal('SIGCONT').catch(() => {});
      way.close();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Sends a signal to a process that may have ended. */
function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Creates a fixed port that forwards to another one. */
function createWay(target: () => number) {
  const sockets = new Set<Socket>();
  let port = 0;
  let listener: Server | null = null;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  return {
    async open(): Promise<number> {
      listener = createServer((client) => {
        const upstream = connect(target(), '127.0.0.1');
        for (const socket of [client, upstream]) keep(socket);
        client.pipe(upstream).pipe(client);
        client.on('close', () => upstream.destroy());
        upstream.on('close', () => client.destroy());
      });
      listener.listen(port, '127.0.0.1');
      await once(listener, 'listening');
      const address = listener.address();
      if (address !== null && typeof address === 'object') ({ port } = address);
      return port;
    },
    close() {
      listener?.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  // The name in parentheses may contain any character.
  return stats
    .map((stat) => /^(\d+) \(.*\) \S (\d+) /s.exec(stat))
    .filter((found) => Number(found?.[2]) === parent)
    .map((found) => Number(found?.[1]));
}
