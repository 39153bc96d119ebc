import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql } from 'postgres';
import { openSession, type Parameter, type Session, type StatementResult } from './session.ts';
import { repeatOnStalePlan } from './stale-plans.ts';

const current = new AsyncLocalStorage<SharedTransaction>();

/** Read-only statements, with an optional leading comment. */
const READS = /^\s*(\/\*[^*]*\*\/\s*)?select\b/i;

/** A transaction inside the shared one: a savepoint. */
export interface Savepoint {
  readonly name: string;
  ended: boolean;
  /** A transaction that began earlier was rolled back, and this one with it. */
  lost: boolean;
}

/**
 * One transaction for all that a unit of work does through a pool, including the functions it calls: each
 * statement on the pool runs in it and each transaction on the pool becomes a savepoint of it (`dialect.ts`).
 */
export class SharedTransaction {
  readonly pool: Sql;
  readonly #session: Session;
  readonly #savepoints: Savepoint[] = [];
  readonly #afterCommit: (() => void)[] = [];
  #open = true;

  constructor(pool: Sql, session: Session) {
    this.pool = pool;
    this.#session = session;
  }

  get open(): boolean {
    return this.#open;
  }

  /**
   * Rejects once the transaction has ended: unawaited work must not reach a session that another request
   * uses.
   */
  query<R extends object>(
    text: string,
    parameters: Parameter[] = [],
    prepare = false,
  ): Promise<StatementResult<R>> {
    if (!this.#open) return Promise.reject(new Error('the transaction of this request has ended'));
    return this.#session.query<R>(text, parameters, prepare);
  }

  /** A statement of its own: when it writes and fails, only its own changes are undone, as on the pool. */
  async statement<R extends object>(
    text: string,
    parameters: Parameter[],
    prepare: boolean,
  ): Promise<StatementResult<R>> {
    if (READS.test(text)) return this.query<R>(text, parameters, prepare);
    const savepoint = await this.begin();
    try {
      const result = await this.query<R>(text, parameters, prepare);
      this.commit(savepoint);
      return result;
    } catch (error) {
      await this.rollback(savepoint);
      throw error;
    }
  }

  async begin(): Promise<Savepoint> {
    const savepoint = { name: `s${this.#savepoints.length}`, ended: false, lost: false };
    this.#savepoints.push(savepoint);
    await this.query(`savepoint ${savepoint.name}`);
    return savepoint;
  }

  /** Sends nothing: the changes since the savepoint commit with the whole transaction. */
  commit(savepoint: Savepoint): void {
    savepoint.ended = true;
    if (!savepoint.lost) return;
    throw new Error('a transaction that overlaps this one was rolled back, and this one with it');
  }

  async rollback(savepoint: Savepoint): Promise<void> {
    savepoint.ended = true;
    if (savepoint.lost) return;
    for (const later of this.#savepoints.slice(this.#savepoints.indexOf(savepoint) + 1)) later.lost = true;
    await this.query(`rollback to ${savepoint.name}`);
  }

  /** @returns false when the transaction has ended: the caller then runs the action immediately. */
  afterCommit(action: () => void): boolean {
    if (this.#open) this.#afterCommit.push(action);
    return this.#open;
  }

  /** @throws {Error} when an inner transaction has not ended because it was not awaited. */
  async finish(): Promise<void> {
    if (this.#savepoints.some(({ ended }) => !ended)) {
      throw new Error('a nested transaction was not awaited');
    }
    await this.#session.commit();
    this.#open = false;
    for (const action of this.#afterCommit) action();
  }

  /** Does nothing after `finish`. */
  async abandon(): Promise<void> {
    this.#open = false;
    await this.#session.rollback().catch(() => {});
  }
}

/** The transaction that the running code shares on this pool, if any. */
export function sharedTransaction(pool: Sql): SharedTransaction | undefined {
  const shared = current.getStore();
  return shared?.pool === pool && shared.open ? shared : undefined;
}

/** Runs the action now, or after the commit of the transaction that the running code shares. */
export function afterCommit(action: () => void): void {
  if (current.getStore()?.afterCommit(action) !== true) action();
}

/**
 * Opens a transaction and passes it to `work`, whose callback decides what runs inside it. It commits when
 * `work` returns a value other than null, and is rolled back when it returns null or throws. It is repeated like any
 * other (`repeatOnStalePlan`).
 */
export function withSharedTransaction<T>(
  pool: Sql,
  work: (transaction: SharedTransaction) => Promise<T | null>,
): Promise<T | null> {
  return repeatOnStalePlan(() => runShared(pool, work));
}

async function runShared<T>(
  pool: Sql,
  work: (transaction: SharedTransaction) => Promise<T | null>,
): Promise<T | null> {
  const transaction = new SharedTransaction(pool, await openSession(pool));
  try {
    const result = await work(transaction);
    if (result !== null) await transaction.finish();
    return result;
  } finally {
    await transaction.abandon();
  }
}

/** Runs code, and everything that it calls and waits for, inside the transaction. */
export function runInSharedTransaction<T>(
  transaction: SharedTransaction,
  work: () => Promise<T>,
): Promise<T> {
  return current.run(transaction, work);
}
