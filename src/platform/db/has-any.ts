import { type Expression, sql } from 'kysely';
import type { Db } from './index.ts';

/** Has one of these queries a row? One statement instead of one for each, where mostly none has. */
export async function hasAny(db: Db, queries: readonly Expression<unknown>[]): Promise<boolean> {
  const found = sql.join(
    queries.map((query) => sql`exists ${query}`),
    sql` or `,
  );
  const { rows } = await sql<{ found: boolean }>`select ${found} as found`.execute(db);
  return rows[0]?.found === true;
}
