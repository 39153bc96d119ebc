import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { MINUTE_MS } from '../../kernel/durations.ts';
import { createSockets, type Sockets } from './sockets.ts';

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

/** The database did not answer a statement in time. Whether the statement was carried out is unknown. */
export class DatabaseDeadlineError extends Error {
  constructor() {
    super('the database did not respond in time');
    this.name = 'DatabaseDeadlineError';
  }
}

const background = new AsyncLocalStorage<true>();

/** Runs work that no one waits for, such as a job: its statements take as long as the server lets them. */
export function inBackground<T>(work: () => T): T {
  return background.run(true, work);
}

/** A statement of the driver. */
type Statement<T> = PromiseLike<T> & { cancel(): void };

/** Bounds the waits for the answers of one pool. */
export interface Deadline {
  /** @throws {DatabaseDeadlineError} and what the statement throws. */
  answerOf<T>(statement: Statement<T>): Promise<T>;
  /**
   * Bounds a wait that is not a statement, such as for a free connection.
   *
   * @param onLate called when the caller has stopped waiting.
   */
  within<T>(wait: PromiseLike<T>, onLate: () => void): Promise<T>;
}

interface Options {
  url: string;
  /** Deadline for statements that a request waits for. */
  deadlineMs: number;
  /** For work in the background: the server has ended the statement before. */
  backgroundMs: number;
  sockets: Pick<Sockets, 'destroyAll'>;
}

/** Between two looks whether a database that is away is back. */
const PROBE_PAUSE_MS = 250;
const PROBE_MS = 1000;
/** Time within which the server ends a canceled statement. */
const CANCEL_MS = 2000;

/**
 * Bounds the waits for a pool. When a wait times out, the server is probed on a separate connection. If it
 * responds, the statement is canceled there. If it does not, all connections are closed, because a response
 * may never come, and waits fail immediately until the server responds again.
 */
export function createDeadline(options: Options): Deadline & { close(): void } {
  const { url, deadlineMs, backgroundMs, sockets } = options;
  let isAway = false;
  let isClosed = false;
  let probing: Promise<boolean> | null = null;

  const isThere = () => {
    probing ??= probe(url).finally(() => {
      probing = null;
    });
    return probing;
  };
  const giveUp = async () => {
    sockets.destroyAll();
    if (isAway) return;
    isAway = true;
    while (!isClosed && !(await isThere())) await sleep(PROBE_PAUSE_MS, undefined, { ref: false });
    isAway = false;
  };
  const within = <T>(wait: PromiseLike<T>, onLate: (isOver: () => boolean) => void): Promise<T> => {
    // A statement of the driver is sent when it is first waited for.
    if (isAway) return Promise.reject(new DatabaseDeadlineError());
    return new Promise((resolve, reject) => {
      let isOver = false;
      const late = () => {
        reject(new DatabaseDeadlineError());
        onLate(() => isOver);
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
          reject(error);
        },
      );
    });
  };
  return {
    answerOf: (statement) =>
      within(statement, async (isOver) => {
        if (!(await isThere())) return giveUp();
        // The driver gives a promise, of which its types do not know.
        Promise.resolve(statement.cancel()).catch(() => {});
        await sleep(CANCEL_MS, undefined, { ref: false });
        // Its connection is dead, though the server is not.
        if (!isOver()) sockets.destroyAll();
      }),
    within(wait, onLate) {
      if (isAway) onLate();
      return within(wait, async () => {
        onLate();
        if (!(await isThere())) await giveUp();
      });
    },
    close() {
      isClosed = true;
    },
  };
}

/** Reports whether the server answers, on a connection that nothing else waits for. */
async function probe(url: string): Promise<boolean> {
  const sockets = createSockets();
  const settings = { max: 1, connect_timeout: 1, fetch_types: false, onnotice: () => {} };
  const sql = postgres(url, Object.assign(settings, { socket: sockets.open }));
  const late = sleep(PROBE_MS, false, { ref: false });
  try {
    return await Promise.race([sql`select 1`.then(() => true), late]);
  } catch (error) {
    // It has no place for another connection, but is there.
    return error instanceof postgres.PostgresError && !error.code.startsWith('57P');
  } finally {
    sql.end({ timeout: 0 }).catch(() => {});
    sockets.destroyAll();
  }
}

const deadlines = new WeakMap<Sql, Deadline>();

export function setDeadline(pool: Sql, deadline: Deadline): void {
  deadlines.set(pool, deadline);
}

const UNBOUNDED: Deadline = {
  answerOf: async (statement) => statement,
  within: async (wait) => wait,
};

/** Returns what bounds the waits for a pool; nothing does where `openDatabase` has not opened it. */
export function deadlineOf(pool: Sql): Deadline {
  return deadlines.get(pool) ?? UNBOUNDED;
}
