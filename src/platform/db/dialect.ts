import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type { Sql } from 'postgres';
import { type Deadline, deadlineOf } from './deadline.ts';
import { openSession, type Parameter, type Session, type StatementResult } from './session.ts';
import { type Savepoint, type SharedTransaction, sharedTransaction } from './shared-transaction.ts';

/**
 * Kysely on the `postgres` driver. Queries outside a transaction go to the pool as prepared statements and
 * are pipelined; the stock dialect reserves a connection for each query and prepares none. Code that runs in
 * a shared transaction (`shared-transaction.ts`) uses that one instead of the pool, without knowing it.
 */
export function postgresDialect(sql: Sql): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(sql),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** A transaction of its own, or one inside a shared one. */
type OpenTransaction = Session | { shared: SharedTransaction; savepoint: Savepoint };

class PostgresConnection implements DatabaseConnection {
  readonly #sql: Sql;
  readonly #deadline: Deadline;
  #transaction: OpenTransaction | undefined;

  constructor(sql: Sql, deadline: Deadline) {
    this.#sql = sql;
    this.#deadline = deadline;
  }

  /** Routes every later query of this connection to one session. */
  async begin(isolation: string | undefined): Promise<void> {
    const shared = sharedTransaction(this.#sql);
    if (shared === undefined) {
      const options = isolation === undefined ? '' : `isolation level ${isolation}`;
      this.#transaction = await openSession(this.#sql, options);
      return;
    }
    if (isolation !== undefined) throw new Error('a shared transaction has the default isolation level');
    this.#transaction = { shared, savepoint: await shared.begin() };
  }

  async commit(): Promise<void> {
    const transaction = this.#transaction;
    if (transaction === undefined) return;
    if ('shared' in transaction) transaction.shared.commit(transaction.savepoint);
    else await transaction.commit();
  }

  async rollback(): Promise<void> {
    const transaction = this.#transaction;
    if (transaction === undefined) return;
    if ('shared' in transaction) await transaction.shared.rollback(transaction.savepoint);
    else await transaction.rollback();
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const parameters = query.parameters.map(toParameter);
    const { rows, count } = await this.#run<R & object>(query.sql, parameters, isPrepared(query.sql));
    return { rows, numAffectedRows: BigInt(count) };
  }

  async #run<R extends object>(
    text: string,
    parameters: Parameter[],
    prepare: boolean,
  ): Promise<StatementResult<R>> {
    const transaction = this.#transaction;
    if (transaction !== undefined) {
      const target = 'shared' in transaction ? transaction.shared : transaction;
      return target.query<R>(text, parameters, prepare);
    }
    const shared = sharedTransaction(this.#sql);
    if (shared !== undefined) return shared.statement<R>(text, parameters, prepare);
    const rows = await this.#deadline.answerOf(this.#sql.unsafe<R[]>(text, parameters, { prepare }));
    return { rows, count: rows.count ?? 0 };
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('this dialect does not support row streaming');
  }
}

/** In a query that is planned each time, with its values: a prepared one is planned for any after five calls. */
export const NOT_PREPARED = '/* planned with its values */';
const PREPARED = /^\s*(select|insert|update|delete|with)\b/i;

function isPrepared(text: string): boolean {
  return PREPARED.test(text) && !text.includes(NOT_PREPARED);
}

/** Objects become JSON text; an array is a PostgreSQL array (write a JSON array as text). */
function toParameter(value: unknown): Parameter {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(toParameter);
  return JSON.stringify(value);
}

class PostgresDriver implements Driver {
  readonly #sql: Sql;
  readonly #deadline: Deadline;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#deadline = deadlineOf(sql);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(this.#sql, this.#deadline);
  }

  beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    return connection.begin(settings.isolationLevel);
  }

  commitTransaction(connection: PostgresConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: PostgresConnection): Promise<void> {
    return connection.rollback();
  }

  /** A transaction has given its connection back when it ended, and the pool keeps those of single queries. */
  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await this.#sql.end({ timeout: 5 });
  }
}
