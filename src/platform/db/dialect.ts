import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type { ReservedSql, Sql } from 'postgres';

/**
 * Kysely on the `postgres` driver. Queries outside a transaction go to the pool as prepared statements and
 * are pipelined; the stock dialect reserves a connection for each query and prepares none.
 */
export function postgresDialect(sql: Sql): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PostgresDriver(sql),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class PostgresConnection implements DatabaseConnection {
  readonly #sql: Sql;
  #reserved: ReservedSql | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** From here on every query of this connection goes over one session: a transaction needs it. */
  async reserve(): Promise<void> {
    this.#reserved = await this.#sql.reserve();
  }

  release(): void {
    this.#reserved?.release();
    this.#reserved = undefined;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const target = this.#reserved ?? this.#sql;
    const rows = await target.unsafe<R[]>(query.sql, query.parameters.map(toParameter), {
      prepare: PREPARED.test(query.sql),
    });
    return { rows, numAffectedRows: BigInt(rows.count ?? 0) };
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('row streaming is not offered by this dialect');
  }
}

const PREPARED = /^(select|insert|update|delete|with)\b/i;

type Parameter = string | number | boolean | Date | Uint8Array | null | Parameter[];

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

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(this.#sql);
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    await connection.reserve();
    const level = settings.isolationLevel;
    await connection.executeQuery(
      CompiledQuery.raw(level === undefined ? 'begin' : `begin isolation level ${level}`),
    );
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    await this.#sql.end({ timeout: 5 });
  }
}
