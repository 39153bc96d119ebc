import { sql } from 'kysely';
import type { Tx } from './index.ts';

/**
 * Holds the advisory lock until the transaction ends: transactions with the same name wait for each other,
 * and only for each other.
 */
export async function advisoryLock(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}
