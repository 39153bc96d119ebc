import type { Sql } from 'postgres';
import { knownMigrations, RESTORE_MARK, readApplied } from './migrate.ts';
import { findNewerObstacle } from './migration-phase.ts';
import { findUpgradeObstacle, hasOlderMigrations } from './older-migrations.ts';

/** State of a database before any process works on it. */
export interface DatabaseState {
  majorVersion: number;
  /** Its clock, epoch ms. */
  timeMs: number;
  /** A restore into it was broken off. */
  isHalfRestored: boolean;
  /** Migrations of this program that are not applied yet. */
  pending: string[];
  /** Applied migrations that this program does not have. */
  unknown: string[];
  /** Reason why an older database cannot be upgraded. */
  obstacle: string | null;
  /** Reason why this program cannot run on a newer database. */
  newerObstacle: string | null;
}

export async function readDatabaseState(sql: Sql): Promise<DatabaseState> {
  const [row] = await sql<{ version: number; timeMs: number; isHalf: boolean; isMigrated: boolean }[]>`
    select current_setting('server_version_num')::integer / 10000 as version,
      extract(epoch from clock_timestamp())::float8 * 1000 as "timeMs",
      to_regnamespace(${RESTORE_MARK}) is not null as "isHalf",
      to_regclass('public.migration') is not null as "isMigrated"`;
  if (row === undefined) throw new Error('the database returned no row');
  const known = await knownMigrations();
  const seen = row.isMigrated ? await readApplied(sql) : [];
  const applied = seen.map(({ name }) => name);
  const isOlder = hasOlderMigrations(applied);
  return {
    majorVersion: row.version,
    timeMs: row.timeMs,
    isHalfRestored: row.isHalf,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: isOlder ? [] : applied.filter((name) => !known.includes(name)).sort(),
    obstacle: isOlder ? findUpgradeObstacle(applied) : null,
    newerObstacle: isOlder ? null : findNewerObstacle(seen, known),
  };
}

/** Share of `max_connections` that the pools of all processes may reach together. */
const MAX_POOL_SHARE = 0.8;

/**
 * Describes the problem when the pools of all running processes together exceed 80 % of the server's connections; null
 * otherwise. Each process has one session that listens.
 *
 * @param pool connections of each process (`DATABASE_POOL`).
 * @param minDemand connections of this node, whose processes may not run yet. Default: 0.
 */
export async function findPoolExcess(sql: Sql, pool: number, minDemand = 0): Promise<string | null> {
  const [row] = await sql<{ processes: number; max: number }[]>`
    select (select count(*) from pg_stat_activity
        where datname = current_database() and query ilike 'listen "marquee"%')::integer as processes,
      current_setting('max_connections')::integer as max`;
  if (row === undefined) throw new Error('the database returned no row');
  const { processes, max } = row;
  const demand = Math.max(processes * (pool + 1), minDemand);
  if (demand <= MAX_POOL_SHARE * max) return null;
  return `the processes may open ${demand} connections, more than 80 % of max_connections (${max})`;
}
