import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Point reads that arrive in one turn of the event loop become one statement. Each read begins after its
 * call, so a caller sees all that was committed before it asked; a cache could not promise that.
 *
 * @param load reads the rows of these ids; a missing one is left out. It runs outside any transaction.
 */
export function createBatchReader<R extends { id: string }>(
  load: (ids: string[]) => Promise<R[]>,
): (id: string) => Promise<R | undefined> {
  const outside = AsyncLocalStorage.snapshot();
  let batch: { ids: Set<string>; rows: Promise<Map<string, R>> } | null = null;

  const open = () => {
    const ids = new Set<string>();
    const rows = new Promise<Map<string, R>>((resolve, reject) => {
      setImmediate(() => {
        batch = null;
        outside(load, [...ids]).then((found) => resolve(new Map(found.map((row) => [row.id, row]))), reject);
      });
    });
    return { ids, rows };
  };
  return async (id) => {
    batch ??= open();
    batch.ids.add(id);
    const rows = await batch.rows;
    return rows.get(id);
  };
}

/**
 * Merges equal reads requested in one turn of the event loop into one; all callers get the same object, which
 * must not be modified. As in `createBatchReader`, each read begins after its call.
 *
 * @param load runs outside any transaction.
 */
export function createDeduplicatingReader<Q extends object, R>(
  load: (asked: Q) => Promise<R>,
): (asked: Q) => Promise<R> {
  const outside = AsyncLocalStorage.snapshot();
  let turn: Map<string, Promise<R>> | null = null;

  const begin = () => {
    // Scheduled before the reads themselves, so that no call joins a read that has begun.
    setImmediate(() => {
      turn = null;
    });
    return new Map<string, Promise<R>>();
  };
  return (asked) => {
    turn ??= begin();
    const name = JSON.stringify(asked);
    const known = turn.get(name);
    if (known !== undefined) return known;
    const answer = new Promise<R>((resolve, reject) => {
      setImmediate(() => outside(load, asked).then(resolve, reject));
    });
    turn.set(name, answer);
    return answer;
  };
}
