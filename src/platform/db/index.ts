import { Kysely, type Transaction } from 'kysely';
import postgres, { type Sql } from 'postgres';
import { dateFromMs, dateFromText } from '../../kernel/clock.ts';
import { type Bounds, createDeadline, DatabaseDeadlineError, SERVING, setDeadline } from './deadline.ts';
import { postgresDialect } from './dialect.ts';
import { createSockets } from './sockets.ts';
import type { Database } from './tables.generated.ts';

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
}

const DEADLINE_MS = 5000;
/** Beyond the time in which the server ends a statement. */
const BACKGROUND_MARGIN_MS = 10_000;

export interface DatabaseHandle {
  db: Db;
  /** The driver itself, for LISTEN/NOTIFY and migrations. */
  sql: Sql;
  close(): Promise<void>;
}

const INT8 = 20;
const TIMESTAMPTZ = 1184;

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

/** Opens a pool; connections are made when they are first needed. */
export function openDatabase(options: DatabaseOptions): DatabaseHandle {
  const { url, bounds = SERVING, deadlineMs = DEADLINE_MS } = options;
  const sockets = createSockets();
  const settings = {
    max: options.pool,
    idle_timeout: 60,
    connect_timeout: 5,
    // The driver's own pause grows to 20 s and outlives the failure.
    backoff: (attempts: number) => Math.min(attempts * 0.1, 1),
    onnotice: () => {},
    types: {
      // Counts and byte sizes stay far below 2^53.
      bigint: { to: INT8, from: [INT8], parse: Number, serialize: String },
      instant: { to: TIMESTAMPTZ, from: [TIMESTAMPTZ], parse: toDate, serialize: toText },
      json: { to: 114, from: [114, 3802], parse: JSON.parse, serialize: String },
    },
    connection: {
      application_name: options.name,
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
  // The driver's own default is a function too, which its types do not know, nor do they know `socket`.
  Object.assign(settings, { max_lifetime: lifetimes(), socket: sockets.open });
  const sql: Sql = postgres(url, settings);
  const backgroundMs = bounds.statementMs + BACKGROUND_MARGIN_MS;
  const deadline = createDeadline({ url, deadlineMs, backgroundMs, sockets });
  setDeadline(sql, deadline);
  const db = new Kysely<Database>({ dialect: postgresDialect(sql) });
  return {
    db,
    sql,
    close() {
      deadline.close();
      return sql.end({ timeout: 5 });
    },
  };
}

/** `Date` reads the years 1 to 99 as those of our time. */
function toDate(text: string): Date {
  return text.startsWith('00') ? dateFromText(text) : dateFromMs(Date.parse(text));
}

function toText(instant: Date | string): string {
  return (typeof instant === 'string' ? dateFromMs(Date.parse(instant)) : instant).toISOString();
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

/** The SQLSTATE of a failed statement, or undefined when the error is not PostgreSQL's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof postgres.PostgresError ? error.code : undefined;
}

/**
 * Deadlocks and their like, a lock or a statement that took too long (55P03, 57014), no place for a connection (53300), a
 * session that the server ended.
 */
const PASSING_STATES = /^(40001|40P01|55P03|57014|53300|25P03|57P0[1235]|08)/;
const LOST_CONNECTION = /^(CONNECTION_|CONNECT_TIMEOUT$|ECONN|EPIPE$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$)/;

/**
 * Reports whether the same transaction may succeed a moment later: the failure is a deadlock, a bound that was reached, or a
 * connection that was lost or could not be made.
 */
export function isTransientError(error: unknown): boolean {
  if (error instanceof DatabaseDeadlineError) return true;
  const state = sqlState(error);
  if (state !== undefined) return PASSING_STATES.test(state);
  return error instanceof Error && 'code' in error && LOST_CONNECTION.test(String(error.code));
}

/** The constraint that a failed statement broke, or undefined. */
export function violatedConstraint(error: unknown): string | undefined {
  return error instanceof postgres.PostgresError ? error.constraint_name : undefined;
}
