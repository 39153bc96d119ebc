import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { ROOT } from '../root.ts';

/**
 * Upgrade of databases whose migrations were replaced by `0001_platform.sql` to `0010_insight.sql`
 * (docs/decisions/database.md#squashed-migrations). It can be removed with `migrations/upgrade`.
 */
const FOLDER = join(ROOT, 'migrations/upgrade');
/** First of the replaced migrations: each older database has it, and no other. */
const FIRST_REPLACED = '0001_accounts.sql';
const LAST_REPLACEMENT = '0010_insight.sql';
/** Last commit with the replaced migrations, which can upgrade and restore everything older. */
const LAST_COMMIT = 'b5afe8f1';
export const OLDER_REMEDY = `start commit ${LAST_COMMIT} once, then this version`;
export const OLDER_BACKUP_REMEDY = `restore it with commit ${LAST_COMMIT}, then start this version`;

/** Upgrade steps, oldest first: where to start, by the last applied migration and the number of all. */
const STEPS = [
  { last: '0220_counter_windows.sql', count: 115, file: 'from_0220.sql' },
  { last: '0251_rename_columns.sql', count: 121, file: 'from_0251.sql' },
];

export function hasOlderMigrations(applied: readonly string[]): boolean {
  return applied.includes(FIRST_REPLACED);
}

/** Returns the reason why a database with older migrations cannot be upgraded, or null. */
export function findUpgradeObstacle(applied: readonly string[]): string | null {
  if (stepsFrom(applied).length > 0) return null;
  return `the database is too old for this version: its last migration is ${applied.toSorted().at(-1)}`;
}

function stepsFrom(applied: readonly string[]): typeof STEPS {
  const last = applied.toSorted().at(-1);
  const start = STEPS.findIndex((step) => step.last === last && step.count === applied.length);
  return start === -1 ? [] : STEPS.slice(start);
}

/**
 * Upgrades a database with older migrations and records their replacements, in one transaction.
 *
 * @param known all migrations of this program.
 * @returns the names of the upgrade files.
 * @throws {Error} one line, for a database that is too old.
 */
export async function upgradeOlder(
  session: Sql,
  applied: readonly string[],
  known: readonly string[],
): Promise<string[]> {
  const obstacle = findUpgradeObstacle(applied);
  if (obstacle !== null) throw new Error(`${obstacle}; ${OLDER_REMEDY}`);
  const files = stepsFrom(applied).map(({ file }) => file);
  const texts = await Promise.all(files.map((file) => readFile(join(FOLDER, file), 'utf8')));
  const names = known.filter((name) => name <= LAST_REPLACEMENT).map((name) => `('${name}')`);
  const record = `delete from migration; insert into migration (name) values ${names.join(', ')}`;
  await session.unsafe(`begin;\n${texts.join(';\n')};\n${record};\ncommit`);
  return files.map((file) => `upgrade/${file}`);
}
