import { AsyncLocalStorage } from 'node:async_hooks';
import { sqlState } from './failures.ts';

const unprepared = new AsyncLocalStorage<true>();

/** The columns of a prepared `select *` have changed. The driver repeats the statement, except in a transaction. */
const STALE_PLAN = '0A000';
/** The transaction has failed: the statement was sent together with the failed one, whose error arrives later. */
const FAILED_TRANSACTION = '25P02';

/**
 * Runs a transaction, and repeats it once if a migration has changed the columns of a prepared statement. The repetition
 * prepares nothing, so no other statement of the connection can fail likewise.
 *
 * @param run has no effects outside the transaction.
 */
export async function repeatOnStalePlan<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const state = sqlState(error);
    const isStale = state === STALE_PLAN || state === FAILED_TRANSACTION;
    if (!isStale || isRepeatedUnprepared()) throw error;
    return unprepared.run(true, run);
  }
}

/** Reports whether the running transaction is the repetition, whose statements are not prepared. */
export function isRepeatedUnprepared(): boolean {
  return unprepared.getStore() === true;
}
