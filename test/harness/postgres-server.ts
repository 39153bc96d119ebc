/**
 * Database server of the tests, one for all test processes of this checkout: `database.ts` starts it when its
 * socket does not respond. It sends each connection the URL of the database as a line, and exits a few
 * seconds after the last disconnect. The cluster is in memory if there is space, and deleted at exit;
 * otherwise it stays on disk.
 */
import { existsSync, rmSync, statfsSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { freemem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { startEmbeddedPostgres } from '../../src/platform/db/embedded.ts';
import { acquireInstanceLock, type InstanceLock } from '../../src/platform/instance-lock.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { seedCluster } from './cluster.ts';
import { migrationsHash } from './migrations.ts';
import { SERVER_FOLDER, SERVER_MEMORY, SERVER_SOCKET } from './paths.ts';

const LINGER_MS = 5000;
/** Many times the memory of the tests, as other programs need memory, too. */
const ROOM_BYTES = 4 * 2 ** 30;

const lock = await lockOrLeave();
const isInMemory = hasRoomInMemory();
const isSeeded = isInMemory && !existsSync(join(SERVER_MEMORY, 'postgres.json'));
const template = `template_${await migrationsHash()}`;
if (isSeeded) await seedCluster(SERVER_MEMORY);
const server = await startEmbeddedPostgres({
  dataDir: isInMemory ? SERVER_MEMORY : SERVER_FOLDER,
  log: createLogger('silent'),
  // Durability settings are off: the data need not survive a power failure.
  settings: {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_wal_senders: '0',
    wal_level: 'minimal',
    max_wal_size: '256MB',
    // It would visit each database of a test every 20 s.
    autovacuum: 'off',
  },
});
if (isSeeded) await makeTemplate();

let users = 0;
let timer = setTimeout(stop, LINGER_MS);
const listener = createServer((socket) => {
  users += 1;
  clearTimeout(timer);
  socket.on('error', () => {});
  socket.on('close', () => {
    users -= 1;
    if (users === 0) timer = setTimeout(stop, LINGER_MS);
  });
  socket.resume();
  socket.write(`${server.url}\n`);
});
rmSync(SERVER_SOCKET, { force: true });
listener.listen(SERVER_SOCKET);
void server.crashed.then(() => process.exit(1));
process.on('SIGTERM', stop);

function stop(): void {
  listener.close();
  void server.stop().then(() => {
    if (isInMemory) rmSync(SERVER_MEMORY, { recursive: true, force: true });
    lock.release();
    process.exit(0);
  });
}

/** Creates the template that `database.ts` looks for, by copying the migrated database of the seed. */
async function makeTemplate(): Promise<void> {
  const admin = postgres(server.url, { max: 1, onnotice: () => {} });
  const source = new URL(server.url).pathname.slice(1);
  await admin
    .unsafe(`create database ${template} template ${source} strategy file_copy`)
    .finally(() => admin.end());
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(SERVER_MEMORY));
    return bavail * bsize > ROOM_BYTES && freemem() > ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Exits if another server is running, and waits for one that is stopping. */
async function lockOrLeave(): Promise<InstanceLock> {
  for (;;) {
    try {
      return acquireInstanceLock(SERVER_FOLDER);
    } catch (error) {
      if (await answers()) process.exit(0);
      if (performance.now() > 20_000) throw error;
      await sleep(50);
    }
  }
}

function answers(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(SERVER_SOCKET, () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
