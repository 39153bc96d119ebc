import type { Sql } from 'postgres';

const CREATE = /^create (unique )?index concurrently (\w+) on (\w+) (.+)$/;
const DROP = /^drop index concurrently (\w+)$/;
const RENAME = /^alter index (\w+) rename to (\w+)$/;

/** Does the file build indexes while others write? Then it is not run in a transaction. */
export function isConcurrent(text: string): boolean {
  return /^(create (unique )?|drop )index concurrently /m.test(text);
}

/**
 * Runs the statements of a migration that builds indexes without keeping writers out, one after the other and each by
 * itself. It may be killed at any of them, and is then run again from the beginning: an index that is whole stays, also
 * when it has the name of the one it replaces by then, and one that was not finished is dropped first. Partitioned tables
 * are taken partition by partition.
 *
 * @throws {Error} for a statement that is neither of an index nor safe to repeat.
 */
export async function runConcurrently(session: Sql, text: string): Promise<void> {
  const statements = text
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((one) => one.trim().replaceAll(/\s+/g, ' '))
    .filter((one) => one !== '');
  const replacing = statements.flatMap((statement) => {
    const [, , name = ''] = CREATE.exec(statement) ?? [];
    const renamed = statements.map((one) => RENAME.exec(one)).find((found) => found?.[1] === name);
    return renamed?.[2] === undefined ? [] : [{ name, to: renamed[2], statement }];
  });
  for (const statement of statements) await run(session, statement, replacing);
}

/** An index that is later renamed to replace another one. */
interface Replacing {
  name: string;
  to: string;
  /** The statement that makes it; the index has it as a comment, which stays when it is renamed. */
  statement: string;
}

async function run(session: Sql, statement: string, replacing: readonly Replacing[]): Promise<void> {
  const [, unique = '', name = '', table = '', definition = ''] = CREATE.exec(statement) ?? [];
  if (name !== '') {
    const own = replacing.find((one) => one.name === name);
    if (own !== undefined && (await hasReplaced(session, own))) return;
    await build(session, { unique, name, table, definition });
    if (own !== undefined) await session.unsafe(`comment on index ${name} is ${quoted(statement)}`);
    return;
  }
  const [, dropped] = DROP.exec(statement) ?? [];
  if (dropped !== undefined) {
    const by = replacing.find(({ to }) => to === dropped);
    if (by === undefined || !(await hasReplaced(session, by))) await drop(session, dropped);
    return;
  }
  const [, from, to] = RENAME.exec(statement) ?? [];
  if (from === undefined || to === undefined) throw new Error(`cannot be repeated: ${statement}`);
  await session.unsafe(`alter index if exists ${from} rename to ${to}`);
}

async function hasReplaced(session: Sql, { to, statement }: Replacing): Promise<boolean> {
  const [row] = await session<{ comment: string | null }[]>`
    select obj_description(to_regclass(${to}), 'pg_class') as comment`;
  return row?.comment === statement;
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

interface Index {
  /** `unique `, or nothing. */
  unique: string;
  name: string;
  table: string;
  /** Text after the table name in the statement. */
  definition: string;
}

async function build(session: Sql, index: Index): Promise<void> {
  const { unique, name, table, definition } = index;
  const state = await stateOf(session, name);
  if (state?.isValid === true) return;
  const [found] = await session<{ isParted: boolean }[]>`
    select relkind = 'p' as "isParted" from pg_class where oid = ${table}::regclass`;
  if (found?.isParted === true) return buildOfParts(session, index);
  if (state !== null) await drop(session, name);
  await session.unsafe(`create ${unique}index concurrently ${name} on ${table} ${definition}`);
}

/**
 * Creates the index of the partitioned table first: partitions created during the build then get theirs
 * automatically.
 */
async function buildOfParts(session: Sql, { unique, name, table, definition }: Index): Promise<void> {
  await session.unsafe(`create ${unique}index if not exists ${name} on only ${table} ${definition}`);
  const parts = await session<{ part: string }[]>`
    select c.relname as part from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass and not exists (
      select from pg_index x join pg_inherits y on y.inhrelid = x.indexrelid
      where x.indrelid = c.oid and y.inhparent = ${name}::regclass)`;
  for (const { part } of parts) {
    const own = `${name}${part.slice(table.length)}`;
    await build(session, { unique, name: own, table: part, definition });
    await session.unsafe(`alter index ${name} attach partition ${own}`);
  }
}

async function drop(session: Sql, name: string): Promise<void> {
  const state = await stateOf(session, name);
  // That of a partitioned table cannot go concurrently; to drop one takes a moment.
  if (state !== null) await session.unsafe(`drop index ${state.isParted ? '' : 'concurrently '}${name}`);
}

async function stateOf(session: Sql, name: string): Promise<{ isValid: boolean; isParted: boolean } | null> {
  const [row] = await session<{ isValid: boolean; isParted: boolean }[]>`
    select indisvalid as "isValid", relkind = 'I' as "isParted"
    from pg_index join pg_class on pg_class.oid = indexrelid where indexrelid = to_regclass(${name})`;
  return row ?? null;
}
