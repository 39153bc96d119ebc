import type { Sql } from 'postgres';
import { median } from './report.ts';

const LOOKS = 3;

/** Returns the total number of 8 kB blocks read by all connections of the pool. */
async function blocks(sql: Sql): Promise<number> {
  const { max } = sql.options;
  const flush = () => sql`select pg_stat_force_next_flush(), pg_sleep(${max > 1 ? 0.02 : 0})`;
  await Promise.all(Array.from({ length: max > 1 ? 2 * max : 1 }, flush));
  const [row] =
    await sql`select blks_hit + blks_read as blocks from pg_stat_database where datname = current_database()`;
  return Number(row?.blocks);
}

/**
 * Returns the number of blocks that the database reads for one run of the work, which is independent of the
 * machine's load; the cost of the measurement is subtracted. A pool of one connection makes it fast.
 */
export async function blocksOf(sql: Sql, work: () => Promise<unknown>): Promise<number> {
  const counts: { work: number; idle: number }[] = [];
  for (let n = 0; n < LOOKS; n++) {
    const begun = await blocks(sql);
    const idle = await blocks(sql);
    await work();
    counts.push({ idle: idle - begun, work: (await blocks(sql)) - idle });
  }
  return median(counts.map((one) => one.work)) - median(counts.map((one) => one.idle));
}
