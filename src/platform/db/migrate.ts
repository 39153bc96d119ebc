import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { ROOT } from '../root.ts';
import { isConcurrent, runConcurrently } from './concurrent-indexes.ts';
import { type Bounds, MAINTAINING } from './deadline.ts';
import { type AppliedMigration, findNewerObstacle, NEWER_REMEDY, readPhase } from './migration-phase.ts';
import { hasOlderMigrations, upgradeOlder } from './older-migrations.ts';

const FOLDER = join(ROOT, 'migrations');
/** Any constant: it only has to be the same in every process. */
const LOCK = 7_220_411;
const LOCK_PAUSE_MS = 100;
/** Schema that exists in a database while a restore is incomplete. */
export const RESTORE_MARK = 'marquee_restore';

/** The migrations that this program has, in their order. */
export async function knownMigrations(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort();
}

/**
 * Applies the SQL files of `migrations/` that the database does not have yet, each in a transaction, except for those
 * that build indexes concurrently. An advisory lock lets any number of processes start concurrently.
 *
 * @param only files that a restore needs. Default: all.
 * @returns the names of the applied files.
 * @throws {Error} one line, for a database with an incomplete restore, or one that is too old or too new.
 */
export async function migrate(sql: Sql, only?: readonly string[]): Promise<string[]> {
  const files = only ?? (await knownMigrations());
  if (only === undefined && (await isCurrent(sql, files))) return [];
  const session = await sql.reserve();
  try {
    await setBounds(session, MAINTAINING);
    await takeLock(session);
    if (only === undefined) await assertNoPartialRestore(session);
    await session`create table if not exists migration (
      name text primary key, applied_at timestamptz not null default now())`;
    const applied: string[] = [];
    let seen = await readNames(session);
    if (hasOlderMigrations(seen)) {
      applied.push(...(await upgradeOlder(session, seen, files)));
      seen = await readNames(session);
    }
    if (only === undefined) assertNotNewer(await readApplied(session), files);
    await session`alter table migration add column if not exists phase text`;
    for (const name of files.filter((file) => !seen.includes(file))) {
      const text = await readFile(join(FOLDER, name), 'utf8');
      const phase = readPhase(text);
      const record = `insert into migration (name, phase)
        values ('${name}', ${phase === null ? 'null' : `'${phase}'`})`;
      if (isConcurrent(text)) {
        await runConcurrently(session, text);
        await session.unsafe(record);
      } else await session.unsafe(`begin;\n${text};\n${record};\ncommit`);
      applied.push(name);
    }
    return applied;
  } finally {
    await session`select pg_advisory_unlock(${LOCK})`.catch(() => {});
    await session`reset statement_timeout`.catch(() => {});
    await session`reset lock_timeout`.catch(() => {});
    session.release();
  }
}

/** Sets the timeouts of this session, independently of those of its pool. */
async function setBounds(session: Sql, { statementMs, lockMs }: Bounds): Promise<void> {
  await session`select set_config('statement_timeout', ${String(statementMs)}, false),
    set_config('lock_timeout', ${String(lockMs)}, false)`;
}

async function readNames(session: Sql): Promise<string[]> {
  return (await readApplied(session)).map(({ name }) => name);
}

/** Reads the applied migrations; as JSON, because a database that was last migrated by an older version has no phases. */
export async function readApplied(sql: Sql): Promise<AppliedMigration[]> {
  return sql<AppliedMigration[]>`
    select name, to_jsonb(migration) ->> 'phase' as phase from migration order by name`;
}

/**
 * Polls for the lock: a session that waits inside a statement holds a snapshot, and a concurrent index build
 * by the lock holder would wait for that snapshot in turn.
 */
async function takeLock(session: Sql): Promise<void> {
  for (;;) {
    const [row] = await session<{ isTaken: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as "isTaken"`;
    if (row?.isTaken === true) return;
    await sleep(LOCK_PAUSE_MS);
  }
}

const UNDEFINED_TABLE = '42P01';

/**
 * Reports whether nothing is to be done, by one statement: true at most starts.
 *
 * @throws {Error} one line, for a database that is too new.
 */
async function isCurrent(sql: Sql, files: readonly string[]): Promise<boolean> {
  const rows = await sql<{ applied: AppliedMigration[] | null; isHalf: boolean }[]>`
    select (select json_agg(json_build_object('name', name, 'phase', to_jsonb(migration) ->> 'phase') order by name)
        from migration) as applied,
      to_regnamespace(${RESTORE_MARK}) is not null as "isHalf"`.catch((error: unknown) => {
    if (error instanceof postgres.PostgresError && error.code === UNDEFINED_TABLE) return [];
    throw error;
  });
  return rows.some(({ applied, isHalf }) => {
    const seen = new Set(applied?.map(({ name }) => name));
    if (isHalf || !files.every((file) => seen.has(file))) return false;
    assertNotNewer(applied ?? [], files);
    return true;
  });
}

function assertNotNewer(applied: readonly AppliedMigration[], files: readonly string[]): void {
  const obstacle = findNewerObstacle(applied, files);
  if (obstacle !== null) throw new Error(`${obstacle}; ${NEWER_REMEDY}`);
}

async function assertNoPartialRestore(session: Sql): Promise<void> {
  const [row] = await session<{ isHalf: boolean }[]>`
    select to_regnamespace(${RESTORE_MARK}) is not null as "isHalf"`;
  if (row?.isHalf === true)
    throw new Error('a restore into this database was interrupted: run marquee restore again');
}
