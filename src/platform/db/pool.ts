import postgres, { type Sql } from 'postgres';
import { dateFromMs, dateFromText } from '../../kernel/clock.ts';
import type { Bounds } from './deadline.ts';
import type { Host, Sockets } from './sockets.ts';

const INT8 = 20;
const TIMESTAMPTZ = 1184;
/** Pause of the listening connection between attempts to connect. */
const LISTEN_PAUSE_SEC = 0.25;
/** Time that statements have to finish on connections that are replaced although the server is available. */
const REPLACED_SEC = 10;

/** Long-lived connections per pool; others were opened for a burst, such as the start. */
const LONG_LIVED_CONNECTIONS = 1;

/**
 * The driver uses its connections in turn, so none of them is ever idle: they end by their age instead
 * (docs/decisions/startup-and-idle.md#connections).
 *
 * @returns the seconds of one connection after the other, as the driver asks for them.
 */
function lifetimes(): () => number {
  let asked = 0;
  return () => {
    asked += 1;
    return asked <= LONG_LIVED_CONNECTIONS ? 240 + Math.random() * 240 : 30 + Math.random() * 25;
  };
}

export interface PoolOptions {
  url: string;
  /** Servers of the URL. */
  hosts: readonly Host[];
  size: number;
  /** Shown in `pg_stat_activity`. */
  name: string;
  bounds: Bounds;
  sockets: Pick<Sockets, 'open'>;
}

/** Client of the driver that can be replaced while the program holds `sql`. */
export interface Pool {
  sql: Sql;
  /** Continues on new connections. @param isDead whether no statement of the old ones can finish. */
  renew(isDead: boolean): void;
  end(): Promise<void>;
}

/**
 * Creates a pool whose client can be replaced. A connection that the driver loses while it sends a statement never
 * connects again: the driver sends the rest of the statement before its next startup message, after up to 20 s
 * (docs/decisions/database.md#outages).
 */
export function createPool(options: PoolOptions): Pool {
  const first = postgres(options.url, settingsOf(options));
  let client = first;
  // Listens on a connection of its own, and reconnects by itself.
  const listener = postgres(options.url, { ...settingsOf(options), backoff: () => LISTEN_PAUSE_SEC });
  const sql = new Proxy(first, {
    apply: (_first, _receiver, args) => Reflect.apply(client, undefined, args),
    get: (_first, name) => Reflect.get(name === 'listen' ? listener : client, name),
  });
  return {
    sql,
    renew(isDead) {
      const old = client;
      client = postgres(options.url, settingsOf(options));
      // The array types are known (`waitForDatabase`).
      Object.assign(client.options.parsers, old.options.parsers);
      Object.assign(client.options.serializers, old.options.serializers);
      client.options.fetch_types = old.options.fetch_types;
      old.end({ timeout: isDead ? 0 : REPLACED_SEC }).catch(() => {});
    },
    async end() {
      await Promise.all([client.end({ timeout: 5 }), listener.end({ timeout: 0 })]);
    },
  };
}

function settingsOf({ hosts, size, name, bounds, sockets }: PoolOptions) {
  const [host] = hosts;
  const settings = {
    max: size,
    idle_timeout: 60,
    connect_timeout: 5,
    // The breaker delays instead.
    backoff: () => 0,
    onnotice: () => {},
    types: {
      // Counts and byte sizes stay far below 2^53.
      bigint: { to: INT8, from: [INT8], parse: Number, serialize: String },
      instant: { to: TIMESTAMPTZ, from: [TIMESTAMPTZ], parse: toDate, serialize: toText },
      json: { to: 114, from: [114, 3802], parse: JSON.parse, serialize: String },
    },
    connection: {
      application_name: name,
      // Offsets of old have seconds, which `Date` does not read.
      TimeZone: 'UTC',
      // No statement runs, or waits for a lock, without a bound (docs/decisions/database.md#timeouts).
      statement_timeout: bounds.statementMs,
      lock_timeout: bounds.lockMs,
      // A vanished client must not hold row locks (docs/decisions/database.md#our-own-kysely-dialect).
      idle_in_transaction_session_timeout: 15_000,
      // Compiling a statement takes longer than any of ours runs (docs/decisions/database.md#no-jit-compilation).
      jit: 'off',
      // Its rows are in memory or on a disk without heads (docs/decisions/database.md#indexes-before-scans).
      random_page_cost: '1.1',
    },
  };
  // With several hosts, the driver retries a refused connection without a pause or an end. `sockets` selects the host.
  const target = hosts.length > 1 && host !== undefined ? { host: [host.host], port: [host.port] } : {};
  // The driver's types omit `socket`, lists of hosts, and a function for `max_lifetime`, its own default.
  const untyped: object = { ...target, max_lifetime: lifetimes(), socket: sockets.open };
  return Object.assign(settings, untyped);
}

/** `Date` reads the years 1 to 99 as those of our time. */
function toDate(text: string): Date {
  return text.startsWith('00') ? dateFromText(text) : dateFromMs(Date.parse(text));
}

function toText(instant: Date | string): string {
  return (typeof instant === 'string' ? dateFromMs(Date.parse(instant)) : instant).toISOString();
}
