import { Writable } from 'node:stream';
import type { Sql, TransactionSql } from 'postgres';
import type { StoredSequence } from './dump.ts';
import { RESTORE_MARK } from './migrate.ts';
import { hasOlderMigrations } from './older-migrations.ts';
import { type StoredTable, storedTables } from './tables-of.ts';

/** Description of a backup's database. */
export interface LoadPlan {
  tables: { name: string; columns: string[] }[];
  sequences: StoredSequence[];
}

/**
 * Prepares an empty database for a restore and marks it, so that no other process works on it before the
 * restore is complete. Removes leftovers of an interrupted restore.
 *
 * @throws {Error} with one line: another program uses the database, or it is not empty.
 */
export async function claimForRestore(sql: Sql, known: readonly string[]): Promise<void> {
  await refuseOthers(sql);
  const [state] = await sql<{ isMarked: boolean; hasTables: boolean; isMigrated: boolean }[]>`
    select to_regnamespace(${RESTORE_MARK}) is not null as "isMarked",
      to_regclass('public.migration') is not null as "isMigrated",
      exists (select from pg_tables where schemaname = 'public') as "hasTables"`;
  if (state?.isMarked === true) return clear(sql);
  if (state?.isMigrated === true) {
    const rows = await sql<{ name: string }[]>`select name from migration order by name`;
    const names = rows.map(({ name }) => name);
    const newer = hasOlderMigrations(names) ? undefined : names.find((name) => !known.includes(name));
    if (newer !== undefined) {
      throw new Error(`the database is newer than the backup: it has ${newer}; restore into an empty one`);
    }
  }
  if (state?.hasTables === true) throw new Error('the database is not empty; restore into an empty one');
  await sql`create schema ${sql(RESTORE_MARK)}`;
}

async function refuseOthers(sql: Sql): Promise<void> {
  const [other] = await sql<{ name: string }[]>`
    select application_name as name from pg_stat_activity
    where datname = current_database() and application_name like 'marquee %' limit 1`;
  if (other !== undefined) {
    throw new Error(`the platform runs on this database (${other.name}); stop it on every machine`);
  }
}

/** Objects of the operator's other extensions are not dropped. */
async function clear(sql: Sql): Promise<void> {
  await sql.unsafe(`
    do $$ declare found record; begin
      for found in select 'drop table if exists ' || c.oid::regclass || ' cascade' as statement from pg_class c
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
          and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
      loop execute found.statement; end loop;
      for found in select 'drop sequence ' || c.oid::regclass as statement from pg_class c
        where relnamespace = 'public'::regnamespace and relkind = 'S'
      loop execute found.statement; end loop;
      for found in select 'drop function ' || p.oid::regprocedure || ' cascade' as statement from pg_proc p
        where pronamespace = 'public'::regnamespace
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      loop execute found.statement; end loop;
    end $$`);
}

/**
 * Fills the tables of a database that `claimForRestore` and the migrations have made ready, all or nothing, and takes
 * the mark away.
 *
 * @param fill writes the rows of one table, as COPY reads them, and ends.
 * @throws {Error} one line, when the backup's tables are not those of the database.
 */
export async function loadTables(
  sql: Sql,
  plan: LoadPlan,
  fill: (table: string, into: Writable) => Promise<void>,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    const tables = await matchTables(tx, plan);
    const constraints = await dropForeignKeys(tx);
    const triggered = await tablesWithTriggers(tx);
    for (const name of triggered) await tx.unsafe(`alter table ${name} disable trigger user`);
    const all = await storedTables(tx);
    await tx.unsafe(`truncate ${all.map(({ name }) => name).join(', ')}`);
    for (const { name, columns } of tables) {
      const list = columns.map((column) => column.name).join(', ');
      await fill(name, rowsInto(tx, await tx.unsafe(`copy ${name} (${list}) from stdin`).writable()));
    }
    for (const { name, value, isCalled } of plan.sequences) {
      await tx`select setval(${name}::regclass, ${value}::bigint, ${isCalled})`;
    }
    for (const add of constraints) await tx.unsafe(add);
    for (const name of triggered) await tx.unsafe(`alter table ${name} enable trigger user`);
    await tx`drop schema ${tx(RESTORE_MARK)}`;
  });
  await sql`analyze`;
}

/**
 * The driver does not report rows that the server rejects after the last was sent; the following statements
 * of the transaction are then rejected too.
 */
function rowsInto(tx: TransactionSql, copy: Writable): Writable {
  const rows = new Writable({
    write: (chunk: Buffer, _encoding, done) => void copy.write(chunk, done),
    final(done) {
      copy.end(() => done());
      setImmediate(() => tx`select`.catch(done));
    },
    destroy(error, done) {
      copy.destroy(error ?? undefined);
      done(error);
    },
  });
  copy.on('error', (error) => rows.destroy(error));
  return rows;
}

/** Returns the tables of the database with the columns of the backup, in its order. */
async function matchTables(tx: TransactionSql, plan: LoadPlan): Promise<StoredTable[]> {
  const here = new Map((await storedTables(tx)).map((table) => [table.name, table]));
  return plan.tables.map(({ name, columns }) => {
    const known = new Map(here.get(name)?.columns.map((column) => [column.name, column]));
    const found = columns.map((column) => known.get(column)).filter((column) => column !== undefined);
    if (found.length === 0 || found.length !== columns.length)
      throw new Error(`the database has no table ${name} with the columns of the backup`);
    return { name, columns: found };
  });
}

async function tablesWithTriggers(tx: TransactionSql): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select distinct tgrelid::regclass::text as name from pg_trigger join pg_class c on c.oid = tgrelid
    where not tgisinternal and c.relnamespace = 'public'::regnamespace`;
  return rows.map(({ name }) => name);
}

/** They would ask for an order of the tables; added again, they check all rows. @returns what adds them. */
async function dropForeignKeys(tx: TransactionSql): Promise<string[]> {
  const rows = await tx<{ drop: string; add: string }[]>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as add
    from pg_constraint
    where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace`;
  for (const { drop } of rows) await tx.unsafe(drop);
  return rows.map(({ add }) => add);
}
