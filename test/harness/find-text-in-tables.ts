import type { Sql } from 'postgres';

/** Returns every row of every table that contains one of the words, in text or in bytes; by table. */
export async function findTextInTables(sql: Sql, words: readonly string[]): Promise<string[]> {
  const tables = await sql<{ name: string; shown: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name,
      coalesce((select inhparent::regclass::text from pg_inherits where inhrelid = c.oid), c.oid::regclass::text) as shown
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') order by 1`;
  const like = words.flatMap((word) => [word, Buffer.from(word).toString('hex')]).map((word) => `%${word}%`);
  const said: string[] = [];
  for (const { name, shown } of tables) {
    const found = await sql`select 1 from ${sql.unsafe(name)} t where t::text ilike any(${like}) limit 1`;
    if (found.length > 0) said.push(shown);
  }
  return [...new Set(said)];
}
