import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { MINUTE_MS } from '../../kernel/durations.ts';
import type { Breaker } from './breaker.ts';
import { DatabaseDeadlineError, isConnectionLoss, isOutageSign } from './failures.ts';
import { DatabaseUnavailableError } from './unavailable-error.ts';

/** Bounds of the server on the connections of a pool (docs/decisions/database.md#timeouts). */
export interface Bounds {
  statementMs: number;
  lockMs: number;
}

/** Timeouts of a process that answers requests or receives media. */
export const SERVING: Bounds = { statementMs: 10_000, lockMs: 4000 };
/** Timeouts of a process that also runs jobs. */
export const WORKING: Bounds = { statementMs: 10 * MINUTE_MS, lockMs: MINUTE_MS };
/** Timeouts of migrations, backups and restores, each on a connection of its own. */
export const MAINTAINING: Bounds = { statementMs: 360 * MINUTE_MS, lockMs: 10 * MINUTE_MS };

const background = new AsyncLocalStorage<true>();

/** Runs work that no one waits for, such as a job: its statements take as long as the server lets them. */
export function inBackground<T>(work: () => T): T {
  return background.run(true, work);
}

/** A statement of the driver. */
type Statement<T> = PromiseLike<T> & { cancel(): void };

/** Bounds the waits for the answers of one pool. */
export interface Deadline {
  /** @throws {DatabaseDeadlineError}, {DatabaseUnavailableError}, and what the statement throws. */
  answerOf<T>(statement: Statement<T>): Promise<T>;
  /**
   * Bounds a wait that is not a statement, such as for a free connection.
   *
   * @param begin is not called while the database is unavailable.
   * @param onLate called when the caller has stopped waiting.
   */
  within<T>(begin: () => PromiseLike<T>, onLate: (error: Error) => void): Promise<T>;
}

interface Options {
  breaker: Pick<Breaker, 'isOpen' | 'check'>;
  /** Deadline for statements that a request waits for. */
  deadlineMs: number;
  /** For work in the background: the server has ended the statement before. */
  backgroundMs: number;
  /** Discards the connections of the pool. */
  discardConnections(): void;
}

/** Time within which the server ends a canceled statement. */
const CANCEL_MS = 2000;

/**
 * Bounds the waits for a pool. While the breaker is open, nothing waits. When a wait times out, the server is probed; if
 * it responds, the statement is canceled.
 */
export function createDeadline(options: Options): Deadline {
  const { breaker, deadlineMs, backgroundMs, discardConnections } = options;

  const bound = <T>(wait: PromiseLike<T>, onLate: (error: Error, isOver: () => boolean) => void) =>
    new Promise<T>((resolve, reject) => {
      let isOver = false;
      const late = () => {
        const error = new DatabaseDeadlineError();
        reject(error);
        onLate(error, () => isOver);
      };
      const timer = setTimeout(late, background.getStore() === true ? backgroundMs : deadlineMs);
      const settle = () => {
        isOver = true;
        clearTimeout(timer);
      };
      wait.then(
        (value) => {
          settle();
          resolve(value);
        },
        (error) => {
          settle();
          if (isOutageSign(error)) void breaker.check();
          // The breaker has discarded the connection.
          reject(breaker.isOpen && isConnectionLoss(error) ? new DatabaseUnavailableError() : error);
        },
      );
    });
  return {
    async answerOf(statement) {
      // A statement of the driver is sent when it is first waited for.
      if (breaker.isOpen) throw new DatabaseUnavailableError();
      return bound(statement, async (_error, isOver) => {
        if (!(await breaker.check())) return;
        // The driver returns a promise, which its types omit.
        Promise.resolve(statement.cancel()).catch(() => {});
        await sleep(CANCEL_MS, undefined, { ref: false });
        // The connection is dead, though the server is not.
        if (!isOver()) discardConnections();
      });
    },
    async within(begin, onLate) {
      if (breaker.isOpen) throw new DatabaseUnavailableError();
      return bound(begin(), (error) => {
        onLate(error);
        void breaker.check();
      });
    },
  };
}

const deadlines = new WeakMap<Sql, Deadline>();

export function setDeadline(pool: Sql, deadline: Deadline): void {
  deadlines.set(pool, deadline);
}

const UNBOUNDED: Deadline = {
  answerOf: async (statement) => statement,
  within: async (begin) => begin(),
};

/** Returns what bounds the waits for a pool; nothing does where `openDatabase` has not opened it. */
export function deadlineOf(pool: Sql): Deadline {
  return deadlines.get(pool) ?? UNBOUNDED;
}
