import { sql } from 'kysely';
import type { Tx } from './index.ts';

/** Until the transaction ends: those with the same name wait for each other, and for nobody else. */
export async function advisoryLock(tx: Tx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}
