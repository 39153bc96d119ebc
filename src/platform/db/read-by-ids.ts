import { type Compilable, type CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './index.ts';

/** The condition that this column has one of the ids. */
export type IdCondition = (column: string) => RawBuilder<SqlBool>;

/** Maximum IDs written as single parameters. */
const WIDEST = 64;

/**
 * Creates a read of rows by ID whose statement text is built once: building it costs more than reading a row
 * by its key. There is one text per number of IDs, rounded up to a power of two: the server cannot know the
 * length of an array, and would plan the statement again each time
 * (docs/decisions/request-pipeline.md#optimizations).
 *
 * @param select the statement; only the IDs may differ from read to read.
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
