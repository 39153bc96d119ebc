import type { Sql, TransactionSql } from 'postgres';
import { deadlineOf } from './deadline.ts';
import { DatabaseDeadlineError, isConnectionLoss, isSessionEnd } from './failures.ts';
import { isRepeatedUnprepared } from './stale-plans.ts';

/** A statement's rows, and how many rows it touched. */
export interface StatementResult<R> {
  rows: R[];
  count: number;
}

export type Parameter = string | number | boolean | Date | Uint8Array | null | Parameter[];

/** A transaction on a connection of the pool, which gets the connection back when it ends. */
export interface Session {
  /** Statements that are sent without waiting for each other are pipelined. Throws once the connection is lost. */
  query<R extends object>(
    text: string,
    parameters?: Parameter[],
    prepare?: boolean,
  ): Promise<StatementResult<R>>;
  /** @throws {Error} when an earlier statement had failed: the server rolls back then, without an error. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/**
 * Begins a transaction on a connection of the pool.
 *
 * @param options text after `begin`, such as `isolation level serializable`.
 */
export async function openSession(sql: Sql, options = ''): Promise<Session> {
  try {
    return await begin(sql, options);
  } catch (error) {
    // The driver reports the end of a session again, to the first statement of the next connection.
    if (!isSessionEnd(error)) throw error;
    return begin(sql, options);
  }
}

/**
 * The driver's `begin` is the only way to a dedicated connection that survives a lost one: `reserve` then
 * writes to the closed socket, which ends the process, or leaks the connection that comes after it. But
 * `begin` treats a transaction as failed after any failed statement, even one undone by a savepoint. So its
 * callback never returns: we send the statement that ends the transaction, and the driver then returns the
 * connection to the pool.
 */
async function begin(sql: Sql, options: string): Promise<Session> {
  const deadline = deadlineOf(sql);
  const begun = Promise.withResolvers<TransactionSql>();
  // The promise may reject after the caller has stopped waiting.
  begun.promise.catch(() => {});
  const lost = Promise.withResolvers<never>();
  let ended: unknown = null;
  lost.promise.catch((error: unknown) => {
    ended = error;
    begun.reject(error);
  });
  const start = () => {
    const ending = sql.begin(options, (transaction) => {
      // The caller has stopped waiting: the driver rolls back and returns the connection to the pool.
      if (ended !== null) throw ended;
      begun.resolve(transaction);
      return new Promise<never>(() => {});
    });
    ending.catch(lost.reject);
    return begun.promise;
  };
  const transaction = await deadline.within(start, (error) => {
    ended = error;
  });

  // A statement sent after the end or a loss would reach a closed socket, or the next user of the connection.
  const run = async <R extends object>(text: string, parameters: Parameter[] = [], prepare = false) => {
    if (ended !== null) throw ended;
    try {
      const answer = deadline.answerOf(
        transaction.unsafe<R[]>(text, parameters, { prepare: prepare && !isRepeatedUnprepared() }),
      );
      return await Promise.race([answer, lost.promise]);
    } catch (error) {
      // The caller learns of the loss here first, and would otherwise try to roll back.
      if (isConnectionLoss(error)) ended ??= error;
      if (error instanceof DatabaseDeadlineError && ended === null) {
        ended = error;
        // Queued behind the late statement, so the caller does not wait for it.
        transaction.unsafe('rollback').catch(() => {});
      }
      throw error;
    }
  };
  const end = (statement: 'commit' | 'rollback') => {
    const result = run(statement);
    ended = new Error('this transaction has ended');
    return result;
  };
  return {
    async query<R extends object>(text: string, parameters?: Parameter[], prepare?: boolean) {
      const rows = await run<R>(text, parameters, prepare);
      return { rows, count: rows.count ?? 0 };
    },
    async commit() {
      const { command } = await end('commit');
      if (command !== 'COMMIT') throw new Error('a statement of this transaction had failed');
    },
    async rollback() {
      if (ended === null) await end('rollback');
    },
  };
}
