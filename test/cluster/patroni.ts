import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import postgres from 'postgres';
import { freePort } from '../harness/platform.ts';
import { killProcess } from '../harness/processes.ts';
import { waitFor } from '../harness/wait-for.ts';
import { hasHaproxy, startHaproxy } from './haproxy.ts';
import type { Part } from './part.ts';
import { signalPostgres } from './postgres.ts';

const MEMBERS = 2;
const PASSWORD = 'marquee';
const START_MS = 60_000;
const [PG_CTL] = globSync('/usr/lib/postgresql/*/bin/pg_ctl').toSorted().toReversed();

/** The reason that a skipped test shows, or null where Patroni can run. */
export function patroniUnavailableReason(): string | null {
  const isInstalled = (program: string) =>
    spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  const missing = ['patroni', 'etcd'].filter((program) => !isInstalled(program));
  if (PG_CTL === undefined) missing.push('postgresql');
  if (!hasHaproxy()) missing.push('haproxy');
  return missing.length === 0 ? null : `no replicated database: ${missing.join(', ')} not installed`;
}

/** PostgreSQL with a synchronous replica that Patroni promotes; a kill ends the server that accepts writes. */
export interface ReplicatedPostgres extends Part {
  url: string;
}

interface Member {
  name: string;
  port: number;
  restPort: number;
  /** Path of the configuration file. */
  file: string;
  dataDir: string;
  process: ChildProcess | null;
}

export async function startPatroni(): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'marquee-patroni-'));
  const identity = databaseUser();
  if (identity !== null) await chown(folder, identity.uid, identity.gid);
  const run = (program: string, args: string[]) =>
    spawn(program, args, { cwd: folder, stdio: 'ignore', ...identity });
  const etcdPort = await freePort();
  const etcd = run('etcd', etcdArguments(join(folder, 'etcd'), etcdPort, await freePort()));
  const members = await createMembers(folder, etcdPort);
  const startMember = async (member: Member) => {
    member.process = run('patroni', [member.file]);
    await waitFor(() => isUp(member, 'health'), { timeoutMs: START_MS, message: member.name });
  };
  for (const member of members) await startMember(member);
  await waitFor(() => isReplicated(members), { timeoutMs: START_MS, message: 'a synchronous replica' });
  const port = await freePort();
  const sections = databaseSections(port, members);
  const proxy = await startHaproxy({
    name: 'database-proxy',
    file: join(folder, 'haproxy.cfg'),
    sections,
    port,
  });
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/marquee`;
  await createDatabase(url);
  return {
    name: 'postgres',
    url,
    async kill() {
      for (const member of members) if (await isUp(member, 'primary')) return killMember(member);
    },
    async start() {
      for (const member of members) if (member.process === null) await startMember(member);
      await waitFor(() => isReplicated(members), { timeoutMs: START_MS, message: 'the replica' });
    },
    async close() {
      for (const member of members) await killMember(member);
      await proxy.close();
      etcd.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Kills Patroni and its server, which is not its child. */
async function killMember(member: Member): Promise<void> {
  const { process: child, dataDir } = member;
  if (child === null) return;
  await killProcess(child);
  signalPostgres(dataDir, 'SIGKILL');
  member.process = null;
}

/** PostgreSQL does not run as root. */
function databaseUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres']));
  return { uid: id('-u'), gid: id('-g') };
}

function etcdArguments(dataDir: string, port: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    ...['--data-dir', dataDir, '--listen-client-urls', client, '--advertise-client-urls', client],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `default=${peer}`],
  ];
}

async function createMembers(folder: string, etcdPort: number): Promise<Member[]> {
  const members: Member[] = [];
  for (let index = 1; index <= MEMBERS; index += 1) {
    const name = `member-${index}`;
    const [port, restPort] = [await freePort(), await freePort()];
    const [file, dataDir] = [join(folder, `${name}.json`), join(folder, name)];
    const settings = memberSettings({ name, port, restPort, etcdPort, dataDir });
    // JSON is YAML.
    await writeFile(file, JSON.stringify(settings), { mode: 0o644 });
    members.push({ name, port, restPort, file, dataDir, process: null });
  }
  return members;
}

interface MemberOptions {
  name: string;
  port: number;
  restPort: number;
  etcdPort: number;
  dataDir: string;
}

function memberSettings({ name, port, restPort, etcdPort, dataDir }: MemberOptions): object {
  const rest = `127.0.0.1:${restPort}`;
  const server = `127.0.0.1:${port}`;
  return {
    scope: 'marquee',
    name,
    restapi: { listen: rest, connect_address: rest },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ...{ ttl: 20, loop_wait: 5, retry_timeout: 5, synchronous_mode: true },
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 200, unix_socket_directories: '', autovacuum_naptime: '20s' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      ...{ listen: server, connect_address: server, data_dir: dataDir },
      bin_dir: dirname(PG_CTL ?? ''),
      pgpass: `${dataDir}.pgpass`,
      authentication: {
        superuser: { username: 'postgres', password: PASSWORD },
        replication: { username: 'replicator', password: PASSWORD },
      },
      pg_hba: ['host all all 127.0.0.1/32 md5', 'host replication replicator 127.0.0.1/32 md5'],
    },
  };
}

/** Asks the health check of a member: `primary`, `sync` or `health`. */
async function isUp({ restPort }: Member, check: string): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${restPort}/${check}`).catch(() => null);
  return answer?.status === 200;
}

async function isReplicated(members: readonly Member[]): Promise<boolean> {
  const states = await Promise.all(
    members.map(async (member) => ((await isUp(member, 'sync')) ? 'sync' : await isUp(member, 'primary'))),
  );
  return states.includes('sync') && states.includes(true);
}

function databaseSections(port: number, members: readonly Member[]): string {
  const servers = members.map(
    (member) =>
      `  server ${member.name} 127.0.0.1:${member.port} check port ${member.restPort} on-marked-down shutdown-sessions`,
  );
  return `
listen database
  mode tcp
  bind 127.0.0.1:${port}
  timeout client 1h
  timeout server 1h
  option httpchk GET /primary
${servers.join('\n')}
`;
}

async function createDatabase(url: string): Promise<void> {
  const sql = postgres(url.replace(/marquee$/, 'postgres'), { max: 1, onnotice: () => {} });
  await waitFor(() => sql`create database marquee`, { timeoutMs: 20_000, message: 'the database' });
  await sql.end();
}
