import type { Sql, TransactionSql } from 'postgres';
import { waitFor } from './wait-for.ts';

type Statement = (tx: TransactionSql) => Promise<unknown>;

/**
 * Asks one after the other while another transaction has run `first` and is open. It commits once each of them waits for
 * a lock, or has answered: they get the lock in their order.
 *
 * @param last what that transaction does before it commits.
 */
export async function withLockContention<T>(
  sql: Sql,
  first: Statement,
  asked: readonly (() => Promise<T>)[],
  last: Statement = async () => {},
): Promise<T[]> {
  const locked = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const holding = sql.begin(async (tx) => {
    await first(tx);
    locked.resolve();
    await free.promise;
    await last(tx);
  });
  await Promise.race([locked.promise, holding]);
  let open = 0;
  const answers: Promise<T>[] = [];
  for (const ask of asked) {
    open += 1;
    const answer = ask().finally(() => {
      open -= 1;
    });
    // Prevents an unhandled rejection; callers that await the response still get the error.
    answer.catch(() => {});
    answers.push(answer);
    await waitFor(async () => {
      const waiting = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length >= open;
    });
  }
  free.resolve();
  await holding;
  return Promise.all(answers);
}
