import { sql } from 'kysely';
import type { Tx } from '../platform/db/index.ts';
import type { Database } from '../platform/db/tables.generated.ts';

/** The tables of resources whose events are numbered. */
type Numbered = {
  [T in keyof Database]: 'event_sequence' extends keyof Database[T] ? T : never;
}[keyof Database];

/** The number of the next event about a resource; its row is locked from here on, so that numbers have no gap. */
export async function nextSequence(tx: Tx, table: Numbered, id: string): Promise<number> {
  const { rows } = await sql<{ event_sequence: number }>`
    update ${sql.table(table)} set event_sequence = event_sequence + 1 where id = ${id}
    returning event_sequence`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error(`cannot number an event: ${table} ${id} not found`);
  return row.event_sequence;
}
