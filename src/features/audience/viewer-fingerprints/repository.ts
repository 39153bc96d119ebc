import { sql } from 'kysely';
import type { Db } from '../../../platform/db/index.ts';

/** Returns the salt of the day: this one, unless another process has created one. */
export async function insertSaltIfAbsent(db: Db, day: string, encrypted: Uint8Array): Promise<Uint8Array> {
  const { rows } = await sql<{ salt_encrypted: Uint8Array }>`
    with made as (
      insert into viewer_salt (day, salt_encrypted) values (${day}, ${encrypted})
        on conflict (day) do nothing returning salt_encrypted
    )
    select salt_encrypted from made
    union all select salt_encrypted from viewer_salt where day = ${day}
    limit 1`.execute(db);
  const [row] = rows;
  // Another process has committed it between the two reads of the statement.
  return row?.salt_encrypted ?? insertSaltIfAbsent(db, day, encrypted);
}

/** Deletes the salts of all other days. */
export async function deleteOldSalts(db: Db, kept: readonly string[]): Promise<void> {
  await sql`delete from viewer_salt where day <> all(${kept}::text[])`.execute(db);
}
