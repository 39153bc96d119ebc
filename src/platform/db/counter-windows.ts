import type { Sql } from 'postgres';
import { dateFromMs } from '../../kernel/clock.ts';
import { MAX_KEYS } from '../fixed-window-counter.ts';

/** A stored count of a window. */
export interface StoredWindow {
  key: string;
  endsAtMs: number;
  hits: number;
}

type Row = { key: string; ends_at: Date; hits: number };

const toStored = ({ key, ends_at: endsAt, hits }: Row): StoredWindow => ({
  key,
  endsAtMs: endsAt.getTime(),
  hits,
});

/**
 * Adds hits to the windows of one counter, each key at most once. Of two open windows of a key the earlier end counts.
 *
 * @param nowMs epoch milliseconds.
 * @returns the windows with the hits of all processes.
 */
export async function addHits(
  sql: Sql,
  name: string,
  windows: readonly StoredWindow[],
  nowMs: number,
): Promise<StoredWindow[]> {
  const now = dateFromMs(nowMs);
  // Two processes that lock rows in the same order cannot deadlock.
  const sorted = windows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const rows = await sql<Row[]>`
    insert into counter_window as stored (name, key, ends_at, hits)
    select ${name}::text, * from unnest(${sorted.map(({ key }) => key)}::text[],
      ${sorted.map(({ endsAtMs }) => dateFromMs(endsAtMs).toISOString())}::text[]::timestamptz[],
      ${sorted.map(({ hits }) => hits)}::bigint[])
    on conflict (name, key) do update set
      hits = excluded.hits + case when stored.ends_at > ${now} then stored.hits else 0 end,
      ends_at = case when stored.ends_at > ${now} then least(stored.ends_at, excluded.ends_at) else excluded.ends_at end
    returning key, ends_at, hits`;
  return rows.map(toStored);
}

/** Reads the open windows of all counters, in batches; those that end first come first. */
export async function* readWindows(
  sql: Sql,
  nowMs: number,
): AsyncGenerator<{ name: string; window: StoredWindow }> {
  const batches = sql<(Row & { name: string })[]>`
    select name, key, ends_at, hits from counter_window where ends_at > ${dateFromMs(nowMs)} order by ends_at`;
  for await (const rows of batches.cursor(READ_ROWS))
    for (const { name, ...row } of rows) yield { name, window: toStored(row) };
}

const READ_ROWS = 5000;

/** Deletes the ended windows and, per counter, the earliest-ending windows beyond `maxWindows`. */
export async function purgeWindows(sql: Sql, nowMs: number, maxWindows = MAX_KEYS): Promise<void> {
  // Rows that are being written are left for the next time: waiting for them could deadlock.
  await sql`delete from counter_window where (name, key) in (
    select name, key from counter_window where ends_at <= ${dateFromMs(nowMs)} for update skip locked)`;
  const crowded = await sql<{ name: string; excess: number }[]>`
    select name, count(*) - ${maxWindows} as excess from counter_window group by name having count(*) > ${maxWindows}`;
  for (const { name, excess } of crowded)
    await sql`delete from counter_window where (name, key) in (
      select name, key from counter_window where name = ${name} order by ends_at limit ${excess}
      for update skip locked)`;
}
