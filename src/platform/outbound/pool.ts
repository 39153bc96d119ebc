import { type Socket, SocketAddress } from 'node:net';
import type { buildConnector, Client } from 'undici';
import { errorCode, GuardError, OutboundError } from './errors.ts';

/** One connection; it carries one request at a time. */
export interface PooledConnection {
  readonly client: Client;
  /** Total number of connections opened: unchanged by a request that reused a connection. */
  readonly connects: () => number;
}

export interface ConnectionPools {
  /** Reports whether there is an idle connection to this address. */
  has(origin: string, ip: string): boolean;
  /**
   * Acquires a connection for exclusive use until it is released; a fresh one is not connected yet. The host,
   * SNI and the certificate check use the origin's name.
   */
  acquire(origin: string, ip: string, options: { fresh: boolean }): Promise<PooledConnection>;
  /** @param healthy false drops the lane's connection. */
  release(origin: string, ip: string, lane: PooledConnection, healthy: boolean): void;
  /** Ends every connection, also those in use. */
  close(): Promise<void>;
}

export interface PoolOptions {
  /** Lanes kept open for one origin and address; more may be in use. */
  idleLanes?: number;
  /** Origin and address pairs that keep idle lanes. */
  maxHosts?: number;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Short, because many receivers close idle connections after 5 s without announcing it. */
const KEEP_ALIVE_MS = 4000;
/** The most that a receiver's Keep-Alive header may ask for. */
const KEEP_ALIVE_MAX_MS = 30_000;

/** One spelling per address, so that `::1` and `0:0::1` compare equal. */
function normalAddress(ip: string): string {
  return new SocketAddress({ address: ip, family: ip.includes(':') ? 'ipv6' : 'ipv4' }).address;
}

function peerIs(socket: Socket, ip: string): boolean {
  const { remoteAddress } = socket;
  return remoteAddress !== undefined && normalAddress(remoteAddress) === normalAddress(ip);
}

/** Returns a connector that always connects to this address, regardless of the requested host. */
function pinTo(base: buildConnector.connector, ip: string): buildConnector.connector {
  return (options, callback) =>
    base({ ...options, hostname: ip }, (...[error, socket]) => {
      if (error !== null) callback(new OutboundError('connect', errorCode(error), error), null);
      else if (peerIs(socket, ip)) callback(null, socket);
      else {
        socket.destroy();
        callback(new GuardError('peer differs'), null);
      }
    });
}

/**
 * Kept-alive HTTP/1.1 connections, each pinned to one checked address
 * (docs/decisions/outbound-requests.md#pinned-connections). The pin is in the connector, because a `lookup`
 * function is neither called for reused connections nor for literal addresses.
 */
export function createConnectionPools({
  idleLanes = 32,
  maxHosts = 5000,
}: PoolOptions = {}): ConnectionPools {
  // Insertion order is the order of last use.
  const idle = new Map<string, PooledConnection[]>();
  const lanes = new Set<PooledConnection>();
  let library: ReturnType<typeof loadLibrary> | undefined;

  const open = async (origin: string, ip: string): Promise<PooledConnection> => {
    library ??= loadLibrary();
    const { Client, connector } = await library;
    const client = new Client(origin, {
      connect: pinTo(connector, ip),
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      // The caller's overall deadline ends a request; these timeouts would only report it differently.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    let connects = 0;
    client.on('connect', () => connects++);
    const lane = { client, connects: () => connects };
    lanes.add(lane);
    return lane;
  };

  const drop = (lane: PooledConnection) => {
    lanes.delete(lane);
    void lane.client.destroy();
  };

  return {
    has: (origin, ip) => idle.has(`${origin}|${ip}`),
    async acquire(origin, ip, { fresh }) {
      if (fresh) return open(origin, ip);
      const key = `${origin}|${ip}`;
      const kept = idle.get(key);
      const lane = kept?.pop();
      if (kept?.length === 0) idle.delete(key);
      return lane ?? open(origin, ip);
    },
    release(origin, ip, lane, healthy) {
      const key = `${origin}|${ip}`;
      const kept = idle.get(key) ?? [];
      if (!healthy || kept.length >= idleLanes || !lanes.has(lane)) return drop(lane);
      kept.push(lane);
      idle.delete(key);
      idle.set(key, kept);
      const [oldest] = idle.size > maxHosts ? idle : [];
      if (oldest === undefined) return;
      idle.delete(oldest[0]);
      oldest[1].forEach(drop);
    },
    close: async () => {
      const all = [...lanes];
      lanes.clear();
      idle.clear();
      await Promise.all(all.map((lane) => lane.client.destroy()));
    },
  };
}

/** With the first request: it takes a tenth of a second. */
async function loadLibrary() {
  const { buildConnector, Client } = await import('undici');
  // HTTP/1.1 only: header names keep their spelling and one connection carries one request at a time.
  const options = { timeout: CONNECT_TIMEOUT_MS, maxCachedSessions: 1000, allowH2: false };
  return { Client, connector: buildConnector(options) };
}
