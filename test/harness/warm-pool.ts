import type { Sql } from 'postgres';

/** Opens the pool's connections, so that concurrent operations of a test overlap in the database. */
export async function warmPool(sql: Sql, connections = 10): Promise<void> {
  await Promise.all(Array.from({ length: connections }, () => sql`select pg_sleep(0.1)`));
}
