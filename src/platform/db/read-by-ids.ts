import { type Compilable, type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './index.ts';

/** The condition that this column has one of the ids. */
export type IdCondition = (column: string) => RawBuilder<SqlBool>;

/** So many ids at most are written one by one. */
const WIDEST = 64;

/**
 * A read of rows by their ids whose text is made once: to build it costs more than to read a row by its key. There is a
 * text for each width of ids, up to the next power of two: of an array the server cannot know how long it is, and would
 * plan the statement anew each time (docs/decisions/request-pipeline.md#optimizations).
 *
 * @param select the statement; nothing else than the ids differs from read to read.
 */
export function readByIds<R>(
  db: Db,
  select: (db: Db, among: IdCondition) => Compilable<R>,
): (ids: readonly string[]) => Promise<R[]> {
  const statements = new Map<number, (ids: readonly string[]) => CompiledQuery<R>>();
  return async (ids) => {
    const width = ids.length > WIDEST ? 0 : 2 ** Math.ceil(Math.log2(ids.length));
    const statement = statements.get(width) ?? compiled(db, select, width);
    statements.set(width, statement);
    const { rows } = await db.executeQuery<R>(statement(ids));
    return rows;
  };
}

function compiled<R>(
  db: Db,
  select: (db: Db, among: IdCondition) => Compilable<R>,
  width: number,
): (ids: readonly string[]) => CompiledQuery<R> {
  /** They stand for the ids among the parameters. */
  const places = new Map<unknown, number>(Array.from({ length: width }, (_, place) => [{}, place]));
  const whole = {};
  const list = width === 0 ? sql`${whole}::text[]` : sql`array[${sql.join([...places.keys()])}]::text[]`;
  const query = select(db, (column) => sql`${sql.ref(column)} = any(${list})`).compile();
  return (ids) => ({
    ...query,
    // The last one fills the places that are left.
    parameters: query.parameters.map((value) => {
      const place = places.get(value);
      if (place !== undefined) return ids[Math.min(place, ids.length - 1)];
      return value === whole ? ids : value;
    }),
  });
}
