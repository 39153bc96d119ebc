import { Kysely, type Transaction, type TransactionBuilder } from 'kysely';
import type { Sql } from 'postgres';
import type { Logger } from '../logger.ts';
import { createBreaker } from './breaker.ts';
import { type Bounds, createDeadline, SERVING, setDeadline } from './deadline.ts';
import { postgresDialect } from './dialect.ts';
import { createPool } from './pool.ts';
import { findPrimary, hostsOf } from './probe.ts';
import { createSockets, type Host } from './sockets.ts';
import { repeatOnStalePlan } from './stale-plans.ts';
import type { Database } from './tables.generated.ts';

export { isTransientError, sqlState, violatedConstraint } from './failures.ts';

/** The pool, or a transaction of it: what every repository function takes first. */
export type Db = Kysely<Database>;
/** Functions that lock or that must commit with something else take only a transaction. */
export type Tx = Transaction<Database>;

export interface DatabaseOptions {
  url: string;
  /** Connections of this process. */
  pool: number;
  /** Shown in `pg_stat_activity`. */
  name: string;
  /** Default: those of a process that answers requests. */
  bounds?: Bounds;
  /** Maximum time that a request waits for a response of the database. Default 5 s. */
  deadlineMs?: number;
  /** Receives one line for each outage. */
  log?: Pick<Logger, 'info' | 'warn'>;
}

const DEADLINE_MS = 5000;
/** Beyond the time in which the server ends a statement. */
const BACKGROUND_MARGIN_MS = 10_000;

/** Connections of a pool, and whether the server is unavailable. */
export interface DatabaseStatus {
  connecting: number;
  open: number;
  isAway: boolean;
}

export interface DatabaseHandle {
  db: Db;
  /** The driver itself, for LISTEN/NOTIFY and migrations. */
  sql: Sql;
  status(): DatabaseStatus;
  close(): Promise<void>;
}

/** Opens a pool; connections are made when they are first needed. */
export function openDatabase(options: DatabaseOptions): DatabaseHandle {
  const { url, log, bounds = SERVING, deadlineMs = DEADLINE_MS } = options;
  const hosts = hostsOf(url);
  const hasChoice = hosts.length > 1;
  /** The server that connections are opened to, where the URL names several. */
  let primary: Host | null = null;

  const discardConnections = () => {
    pool.renew(true);
    sockets.destroyAll();
  };
  const breaker = createBreaker({
    async probe() {
      const found = await findPrimary(url, hosts);
      const hasMoved = hasChoice && found !== null && primary !== null && found !== primary;
      if (found !== null) primary = found;
      if (hasMoved) discardConnections();
      return found !== null;
    },
    onOutage() {
      log?.warn('the database is unavailable');
      discardConnections();
    },
    onRecovery: (outageMs) => log?.info({ ms: Math.round(outageMs) }, 'the database is available again'),
  });
  const selectHost = async () => {
    if (primary === null) await breaker.check();
    return breaker.isOpen ? null : primary;
  };
  const sockets = createSockets({
    selectHost: hasChoice ? selectHost : (host) => (breaker.isOpen ? null : host),
    onLoss: ({ isRefused }) => (isRefused ? breaker.trip() : void breaker.check()),
    onUnused: () => pool.renew(false),
  });
  const pool = createPool({ url, hosts, size: options.pool, name: options.name, bounds, sockets });
  const backgroundMs = bounds.statementMs + BACKGROUND_MARGIN_MS;
  setDeadline(pool.sql, createDeadline({ breaker, deadlineMs, backgroundMs, discardConnections }));
  return {
    db: new RepeatingKysely({ dialect: postgresDialect(pool.sql) }),
    sql: pool.sql,
    status: () => ({ ...sockets.counts, isAway: breaker.isOpen }),
    close() {
      breaker.close();
      return pool.end();
    },
  };
}

/** Repeats a transaction whose prepared statement is stale (docs/decisions/database.md#stale-plans). */
class RepeatingKysely extends Kysely<Database> {
  override transaction(): TransactionBuilder<Database> {
    const once = super.transaction();
    const execute = <T>(work: (tx: Tx) => Promise<T>) => repeatOnStalePlan(() => once.execute(work));
    return Object.assign(super.transaction(), { execute });
  }
}

/**
 * Opens the first connection, which loads the array types for all connections. Otherwise the driver would
 * query them on each connection, and the process would exit when a connection is lost during that query.
 *
 * @throws when the database is unreachable.
 */
export async function waitForDatabase(options: DatabaseOptions): Promise<DatabaseHandle> {
  const database = openDatabase(options);
  await database.sql`select 1`;
  database.sql.options.fetch_types = false;
  return database;
}
