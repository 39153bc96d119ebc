import { type Db as BossDatabase, PgBoss } from 'pg-boss';
import type { Sql } from 'postgres';
import { openSession } from './session.ts';

/** What pg-boss sends to be run as a whole: many statements and no parameters. */
const SCRIPT = /^\s*BEGIN;([\s\S]*)COMMIT;\s*$/;

/** What pg-boss's adapters take as parameters: texts, numbers and arrays of them, dates, null. */
type Value = string | number | boolean | Date | null | Value[];

function isValue(value: unknown): value is Value {
  if (Array.isArray(value)) return value.every(isValue);
  if (value === null || value instanceof Date) return true;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** pg-boss on our driver's pool; the driver takes `BEGIN` only where it knows that the session is one's own. */
function adapter(sql: Sql): BossDatabase {
  return {
    async executeSql(text, values = []) {
      const script = values.length === 0 ? SCRIPT.exec(text)?.[1] : undefined;
      if (script !== undefined) return { rows: await runScript(sql, script) };
      return { rows: await sql.unsafe(text, values.filter(isValue), { prepare: false }) };
    },
  };
}

/** @returns the rows of all its statements. */
async function runScript(sql: Sql, script: string): Promise<object[]> {
  const session = await openSession(sql);
  try {
    const { rows } = await session.query(script);
    await session.commit();
    return rows.flat();
  } finally {
    await session.rollback().catch(() => {});
  }
}

/**
 * Makes or upgrades pg-boss's schema (`pgboss`). Any number of processes may do it at once.
 *
 * @param session of its own: the whole is one script with its own transaction.
 */
export async function installJobTables(session: Sql): Promise<void> {
  const db: BossDatabase = {
    async executeSql(text, values = []) {
      return { rows: await session.unsafe(text, values.filter(isValue), { prepare: false }) };
    },
  };
  const boss = new PgBoss({ db, supervise: false, schedule: false });
  const failed = Promise.withResolvers<never>();
  boss.on('error', failed.reject);
  await Promise.race([boss.start(), failed.promise]);
  await boss.stop({ graceful: false, close: false });
}

export interface JobUpkeep {
  stop(): Promise<void>;
}

/** pg-boss's own care for its tables: finished jobs are deleted after their time, bloated indexes rebuilt. */
export function startJobUpkeep(sql: Sql, onError: (error: unknown) => void): JobUpkeep {
  const boss = new PgBoss({ db: adapter(sql), schedule: false });
  boss.on('error', onError);
  const started = boss.start().catch(onError);
  return {
    async stop() {
      await started;
      await boss.stop({ graceful: false, close: false });
    },
  };
}
