import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findRunningPostmaster } from '../../src/platform/db/embedded/stale-postmaster.ts';
import { startEmbeddedPostgres } from '../../src/platform/db/embedded.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { seedCluster } from '../harness/cluster.ts';
import { freePort } from '../harness/platform.ts';
import { childrenOf } from '../harness/processes.ts';
import type { Part } from './part.ts';

/** Separate PostgreSQL server whose port does not change. */
export interface ClusterPostgres extends Part {
  url: string;
  freeze(): void;
  thaw(): void;
}

/** @param isEmpty whether the first node migrates the database. */
export async function startClusterPostgres(dataDir: string, isEmpty: boolean): Promise<ClusterPostgres> {
  if (!isEmpty) await seedCluster(dataDir);
  const port = await freePort();
  const open = () =>
    startEmbeddedPostgres({
      dataDir,
      log: createLogger('silent'),
      // Written data survives a kill of the server without fsync.
      settings: { port: String(port), fsync: 'off' },
    });
  let starting = open();
  let server = await starting;
  const url = new URL(server.url);
  url.port = String(port);
  const signal = (name: NodeJS.Signals) => signalPostgres(join(dataDir, 'postgres'), name);
  return {
    name: 'postgres',
    url: url.href,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async kill() {
      signal('SIGKILL');
      await server.crashed;
    },
    async start() {
      starting = open();
      server = await starting;
    },
    async close() {
      signalPostgres(join(dataDir, 'postgres'), 'SIGCONT');
      // A trial that is interrupted may just start it.
      await (await starting).stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Sends a signal to the server of a cluster and all of its sessions, if it runs. */
export function signalPostgres(cluster: string, signal: NodeJS.Signals): void {
  const postmaster = findRunningPostmaster(cluster);
  if (postmaster === null) return;
  for (const pid of [postmaster, ...childrenOf(postmaster, '')]) {
    try {
      process.kill(pid, signal);
    } catch {
      // A session that has ended since.
    }
  }
}
