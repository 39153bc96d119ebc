import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { type Binaries, findBinaries } from './embedded/binaries.ts';
import { chooseIdentity, type Identity } from './embedded/identity.ts';
import { type Program, runProgram } from './embedded/programs.ts';
import { findRunningPostmaster, removeStalePidFile } from './embedded/stale-postmaster.ts';

const USER = 'marquee';
const MAJOR = '18';

export interface EmbeddedPostgresOptions {
  /** The cluster lives in `postgres/` below, its address and password in `postgres.json`. */
  dataDir: string;
  log: Logger;
  /** Server settings beyond ours, e.g. `{ fsync: 'off' }` for tests. */
  settings?: Record<string, string>;
}

export interface EmbeddedPostgres {
  url: string;
  /** Resolves with one line when the server ends without having been stopped. */
  crashed: Promise<string>;
  /** Stops the server with a fast shutdown: open transactions are rolled back, committed data is on disk. */
  stop(): Promise<void>;
}

interface Address {
  port: number;
  password: string;
}

/**
 * Starts PostgreSQL 18 on a free port of 127.0.0.1; the first start creates the cluster. A server that a
 * killed run left behind is shut down first. The caller holds the lock of the data folder
 * (`instance-lock.ts`).
 *
 * @throws {Error} with a one-line message that names the remedy: no write access, disk full, data of another
 *   version.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, log } = options;
  const cluster = join(dataDir, 'postgres');
  try {
    await mkdir(dataDir, { recursive: true });
    const binaries = await findBinaries();
    const identity = await chooseIdentity([dataDir, dirname(binaries.postgres)]);
    await removeStalePidFile(cluster);
    const password = await prepareCluster(dataDir, binaries, identity);
    return await startOnFreePort({ ...options, binaries, identity, cluster, password });
  } catch (error) {
    log.debug({ err: error }, 'PostgreSQL did not start');
    throw oneLine(error, dataDir);
  }
}

/**
 * Returns the URL of the server that runs on this data folder, or null. The command line finds the server
 * with it.
 */
export function readEmbeddedUrl(dataDir: string): string | null {
  if (findRunningPostmaster(join(dataDir, 'postgres')) === null) return null;
  try {
    const address = parseAddress(readFileSync(addressFile(dataDir), 'utf8'));
    return address === null ? null : toUrl(address);
  } catch {
    return null;
  }
}

function toUrl({ port, password }: Address): string {
  return `postgres://${USER}:${password}@127.0.0.1:${port}/${USER}`;
}

function addressFile(dataDir: string): string {
  return join(dataDir, 'postgres.json');
}

function parseAddress(text: string): Address | null {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('port' in value) || !('password' in value))
    return null;
  const { port, password } = value;
  return typeof port === 'number' && typeof password === 'string' ? { port, password } : null;
}

/** Writes a temporary file and renames it, so that a reader never sees a partial file. */
async function writeAddress(dataDir: string, address: Address): Promise<void> {
  const path = addressFile(dataDir);
  await writeFile(`${path}.new`, `${JSON.stringify(address)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

async function readPrivate(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

/** Creates the cluster when it does not exist. @returns the password of our database user. */
async function prepareCluster(dataDir: string, binaries: Binaries, identity: Identity): Promise<string> {
  const cluster = join(dataDir, 'postgres');
  const version = (await readPrivate(join(cluster, 'PG_VERSION')))?.trim();
  if (version !== undefined && version !== MAJOR) {
    throw new Error(`${cluster} was created by PostgreSQL ${version}, but this program runs ${MAJOR}`);
  }
  const kept = await readPrivate(addressFile(dataDir)).then((text) => parseAddress(text ?? 'null'));
  if (version !== undefined && kept !== null) return kept.password;

  const password = randomBytes(24).toString('base64url');
  const sql = (folder: string, text: string) =>
    finish(
      runProgram(binaries.postgres, ['--single', '-D', folder, 'postgres'], {
        identity,
        cwd: folder,
        input: `${text}\n`,
      }),
    );
  if (version !== undefined) {
    await sql(cluster, `alter role ${USER} password '${password}'`);
  } else {
    await initialise(dataDir, binaries, identity, password, sql);
  }
  await writeAddress(dataDir, { port: 0, password });
  return password;
}

/**
 * Initializes a temporary folder and renames it at the end: a start killed during initialization leaves no
 * partial cluster.
 */
async function initialise(
  dataDir: string,
  { initdb }: Binaries,
  identity: Identity,
  password: string,
  sql: (folder: string, text: string) => Promise<void>,
): Promise<void> {
  const folder = join(dataDir, 'postgres.new');
  const passwordFile = join(dataDir, 'postgres.new.password');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (identity.user !== null) {
    await chown(folder, identity.user.uid, identity.user.gid);
    await chown(passwordFile, identity.user.uid, identity.user.gid);
  }
  const args = ['-D', folder, '-U', USER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
  const text = ['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin'];
  try {
    await finish(
      runProgram(initdb, [...args, ...text, '--builtin-locale', 'C.UTF-8'], { identity, cwd: folder }),
    );
    await sql(folder, `create database ${USER}`);
    await rename(folder, join(dataDir, 'postgres'));
  } finally {
    await rm(passwordFile, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

async function finish(program: Program): Promise<void> {
  const { code, failure } = await program.ended;
  if (code !== 0) throw new Error(failure === '' ? `a PostgreSQL program ended with ${code}` : failure);
}

interface StartOptions extends EmbeddedPostgresOptions {
  binaries: Binaries;
  identity: Identity;
  cluster: string;
  password: string;
}

async function startOnFreePort(options: StartOptions): Promise<EmbeddedPostgres> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const port = await freePort();
    const server = startServer(options, port);
    const failure = await server.ready;
    if (failure === null) {
      await writeAddress(options.dataDir, { port, password: options.password });
      return { url: toUrl({ port, password: options.password }), crashed: server.crashed, stop: server.stop };
    }
    // The port was taken between our look and PostgreSQL's, or sessions of a killed server still end.
    const passing = /could not create any TCP\/IP sockets|pre-existing shared memory block/.test(failure);
    if (!passing || performance.now() > deadline) throw new Error(failure);
    await sleep(50);
  }
}

function startServer(options: StartOptions, port: number) {
  const { binaries, identity, cluster, log } = options;
  let markReady = (_failure: string | null) => {};
  const ready = new Promise<string | null>((resolve) => {
    markReady = resolve;
  });
  let stopping = false;
  const settings = Object.entries({ ...serverSettings(), ...options.settings });
  const args = [
    '-D',
    cluster,
    '-p',
    String(port),
    ...settings.flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ];
  const program = runProgram(binaries.postgres, args, {
    identity,
    cwd: cluster,
    onLine: (line) => {
      if (line.includes('database system is ready to accept connections')) markReady(null);
      const serious = !stopping && /^(PANIC|WARNING):/.test(line);
      log[serious ? 'warn' : 'debug']({ postgres: line }, 'PostgreSQL says');
    },
  });
  const ended = program.ended.then(({ failure }) => {
    const reason = failure === '' ? 'PostgreSQL ended by itself' : failure;
    markReady(reason);
    return reason;
  });
  ended.catch((error: Error) => markReady(error.message));
  const crashed = new Promise<string>((resolve) => {
    void ended.then((reason) => {
      if (!stopping) resolve(reason);
    });
  });
  const stop = async () => {
    stopping = true;
    program.signal('SIGINT');
    const harder = setTimeout(() => program.signal('SIGQUIT'), 15_000);
    const hardest = setTimeout(() => program.signal('SIGKILL'), 20_000);
    await ended.finally(() => {
      clearTimeout(harder);
      clearTimeout(hardest);
    });
  };
  return { ready, crashed, stop };
}

function serverSettings(): Record<string, string> {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  const megabytes = Math.floor(memory / 4 / 2 ** 20);
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: `${Math.max(16, Math.min(512, megabytes))}MB`,
    // The stock 16 MB are all touched within minutes, and no transaction of ours writes as much.
    wal_buffers: '4MB',
    // Each of these is a process at rest, and nothing of ours subscribes to another server.
    io_workers: '1',
    max_logical_replication_workers: '0',
    // Tables that turn over quickly, with each look at a quarter of the price of the whole rest at 5 s
    // (docs/decisions/database.md#postgresql-from-npm).
    autovacuum_naptime: '20s',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '',
    // The sender of a failed statement reports it; its text may hold a secret.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0));
    });
  });
}

function oneLine(error: unknown, dataDir: string): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const message = error instanceof Error ? error.message : String(error);
  if (code === 'ENOSPC' || message.includes('No space left'))
    return new Error(`the disk of ${dataDir} is full`, { cause: error });
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    return new Error(`no write access to ${dataDir}`, { cause: error });
  }
  return new Error(`the database in ${dataDir} did not start: ${message.split('\n')[0]}`, { cause: error });
}
