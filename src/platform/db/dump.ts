import type { Readable } from 'node:stream';
import type { Sql, TransactionSql } from 'postgres';
import { type StoredTable, storedTables } from './tables-of.ts';

/** The database at one moment. */
export interface Snapshot {
  /** File names, in the order in which they were applied. */
  migrations: string[];
  tables: StoredTable[];
  sequences: StoredSequence[];
  /** The rows as COPY writes them: a line each, UTF-8. */
  rowsOf(table: StoredTable): Promise<Readable>;
}

export interface StoredSequence {
  /** Quoted as SQL wants it. */
  name: string;
  value: string;
  /** Whether `value` has been returned by `nextval`. */
  isCalled: boolean;
}

/** Any constant: one backup of a database runs at a time. */
const LOCK = 7_220_414;
/**
 * Numbers of transactions are moved behind all that a server comes to, so that they are taken for another's wherever
 * the rows are loaded (docs/decisions/backups.md#transaction-ids).
 */
const XID_SHIFT = 2 ** 40;

/**
 * Keeps every other backup of this database out while `work` runs.
 *
 * @throws {Error} one line, when another one runs.
 */
export async function withBackupLock<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  const run = async (tx: TransactionSql): Promise<{ result: T }> => {
    await stayOpen(tx);
    const [row] = await tx<{ isOurs: boolean }[]>`select pg_try_advisory_xact_lock(${LOCK}) as "isOurs"`;
    if (row?.isOurs !== true) throw new Error('another backup of this database is running');
    return { result: await work() };
  };
  return (await sql.begin(run)).result;
}

/** Shows `work` the database as it is at one moment, while others write. */
export async function withSnapshot(sql: Sql, work: (snapshot: Snapshot) => Promise<void>): Promise<void> {
  await sql.begin('isolation level repeatable read read only', async (tx) => {
    await stayOpen(tx);
    const migrations = await tx<{ name: string }[]>`select name from migration order by name`;
    await work({
      migrations: migrations.map(({ name }) => name),
      tables: await storedTables(tx),
      sequences: await sequencesOf(tx),
      rowsOf: ({ name, columns }) => {
        const values = columns.map((column) =>
          column.isXid ? `(${column.name}::text::numeric + ${XID_SHIFT})::text::xid8` : column.name,
        );
        return tx.unsafe(`copy (select ${values.join(', ')} from ${name}) to stdout`).readable();
      },
    });
  });
}

/** Between two statements a slow store may take its time. */
async function stayOpen(tx: TransactionSql): Promise<void> {
  await tx`set local idle_in_transaction_session_timeout = 0`;
}

async function sequencesOf(tx: TransactionSql): Promise<StoredSequence[]> {
  const names = await tx<{ name: string }[]>`
    select quote_ident(schemaname) || '.' || quote_ident(sequencename) as name from pg_sequences
    where schemaname = 'public' order by 1`;
  const sequences: StoredSequence[] = [];
  for (const { name } of names) {
    const [row] = await tx.unsafe<{ value: string; isCalled: boolean }[]>(
      `select last_value::text as value, is_called as "isCalled" from ${name}`,
    );
    if (row !== undefined) sequences.push({ name, ...row });
  }
  return sequences;
}
