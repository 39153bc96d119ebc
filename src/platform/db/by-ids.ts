import type { Compilable, CompiledQuery } from 'kysely';
import type { Db } from './index.ts';

/**
 * A read of rows by their ids whose text is made once: to build it costs more than to read a row by its key.
 *
 * @param select the statement; nothing else than the ids differs from read to read.
 */
export function readByIds<R>(
  db: Db,
  select: (db: Db, ids: readonly string[]) => Compilable<R>,
): (ids: readonly string[]) => Promise<R[]> {
  /** Stands for the ids among the parameters. */
  const place: string[] = [];
  let compiled: CompiledQuery<R> | undefined;
  return async (ids) => {
    compiled ??= select(db, place).compile();
    const parameters = compiled.parameters.map((value) => (value === place ? ids : value));
    const { rows } = await db.executeQuery<R>({ ...compiled, parameters });
    return rows;
  };
}
