import { setTimeout as sleep } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { isOutageSign, sqlState } from './failures.ts';
import { createSockets, type Host } from './sockets.ts';

const PROBE_MS = 1000;

/** Returns the servers that the URL names, in its order. */
export function hostsOf(url: string): Host[] {
  const { host, port } = postgres(url, { max: 0 }).options;
  return host.map((name, at) => ({ host: name, port: port[at] ?? 5432 }));
}

/** Returns the first server to respond that accepts writes, or null. */
export async function findPrimary(url: string, hosts: readonly Host[]): Promise<Host | null> {
  const probes = hosts.map(async (host) => {
    if (await acceptsWrites(url, hosts.length === 1 ? null : host)) return host;
    throw new Error('not a primary');
  });
  return Promise.any(probes).catch(() => null);
}

/**
 * Probes a server on a separate connection. A standby responds to queries, so the probe asks for a session that can
 * write.
 *
 * @param host null for the only one of the URL.
 */
async function acceptsWrites(url: string, host: Host | null): Promise<boolean> {
  const sockets = createSockets();
  const settings = { max: 1, connect_timeout: 1, fetch_types: false, onnotice: () => {} };
  const target = host === null ? {} : { host: [host.host], port: [host.port] };
  // The driver's types omit these.
  const untyped: object = { ...target, socket: sockets.open };
  const sql = postgres(url, Object.assign(settings, untyped));
  try {
    return await Promise.race([isWritable(sql), sleep(PROBE_MS, false, { ref: false })]);
  } catch (error) {
    // The server has no free connection for the probe, but responds.
    return sqlState(error) !== undefined && !isOutageSign(error);
  } finally {
    sql.end({ timeout: 0 }).catch(() => {});
    sockets.destroyAll();
  }
}

async function isWritable(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isReadOnly: boolean }[]>`
    select current_setting('transaction_read_only') = 'on' as "isReadOnly"`;
  return row?.isReadOnly === false;
}
