import { sql } from 'kysely';
import { dateFromMs } from '../kernel/clock.ts';
import { MINUTE_MS } from '../kernel/durations.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import type { StreamLogTable } from '../platform/db/tables.generated.ts';

/** Bus topic of the IDs of streams whose log has new entries; settings and flags have another topic. */
export const STREAM_LOG_TOPIC = 'stream-log';

/**
 * Tails of a stream whose entries are retained for a while (docs/decisions/event-streams.md#the-stream-log).
 */
export type LoggedTail = StreamLogTable['tail'];

/** Where a tail of a stream is: behind this entry. */
export interface LogPosition {
  seq: number;
  atMs: number;
}

export interface LogEntry extends LogPosition {
  event: string;
  /** JSON; null when the content was redacted. */
  body: string | null;
}

export interface LogCursor {
  streamId: string;
  tail: LoggedTail;
}

/** Maximum number and age of the entries with which a tail can resume. */
export const LOG_RETENTION: Readonly<Record<LoggedTail, { entries: number; ageMs: number }>> = {
  CHAT: { entries: 1000, ageMs: 10 * MINUTE_MS },
  RESTREAM: { entries: 300, ageMs: 60 * MINUTE_MS },
  STATUS: { entries: 100, ageMs: 60 * MINUTE_MS },
};

/**
 * Appends an entry in the caller's transaction, which must hold at least a `for key share` lock on the row of the
 * stream, so that all transactions take the locks in the same order.
 *
 * @param body given the position of the entry, and stored as JSON.
 */
export async function appendToLog(
  tx: Tx,
  { streamId, tail }: LogCursor,
  event: string,
  { body, at }: { body: (position: LogPosition) => object; at: Date },
): Promise<LogPosition> {
  const { rows } = await sql<{ seq: number; at: Date }>`
    insert into stream_log_head as head (stream_id, tail, seq, at) values (${streamId}, ${tail}, 1, ${at})
      on conflict (stream_id, tail)
        do update set seq = head.seq + 1, at = greatest(head.at, excluded.at)
      returning seq, at`.execute(tx);
  const [head] = rows;
  if (head === undefined) throw new Error(`nothing was appended to the log of ${streamId}`);
  const position = { seq: head.seq, atMs: head.at.getTime() };
  await tx
    .insertInto('stream_log')
    .values({ stream_id: streamId, tail, ...head, event, body: JSON.stringify(body(position)) })
    .execute();
  return position;
}

/** Redacts entries: a resumed tail does not show them. @param seqs one entry, or all before one. */
export async function redactLogEntries(
  tx: Tx,
  { streamId, tail }: LogCursor,
  event: string,
  seqs: { is: number } | { before: number },
): Promise<void> {
  await tx
    .updateTable('stream_log')
    .set({ body: null })
    .where('stream_id', '=', streamId)
    .where('tail', '=', tail)
    .where('event', '=', event)
    .where('seq', 'is' in seqs ? '=' : '<', 'is' in seqs ? seqs.is : seqs.before)
    .execute();
}

/** The last position of each place; one without an entry is left out. */
export async function latestPositions(
  db: Db,
  places: readonly LogCursor[],
): Promise<(LogCursor & { position: LogPosition })[]> {
  const { rows } = await sql<{ stream_id: string; tail: LoggedTail; seq: number; at: Date }>`
    select head.stream_id, head.tail, head.seq, head.at
      from unnest(${places.map(({ streamId }) => streamId)}::text[], ${places.map(({ tail }) => tail)}::text[])
        as asked (stream_id, tail)
      join stream_log_head head using (stream_id, tail)`.execute(db);
  return rows.map(({ stream_id: streamId, tail, seq, at }) => ({
    streamId,
    tail,
    position: { seq, atMs: at.getTime() },
  }));
}

/** Returns the entries after each position, in order, at most `limit` per position. */
export async function entriesAfter(
  db: Db,
  places: readonly (LogCursor & { seq: number })[],
  limit: number,
): Promise<(LogCursor & LogEntry)[]> {
  const { rows } = await sql<Omit<LogEntry, 'atMs'> & { stream_id: string; tail: LoggedTail; at: Date }>`
    select entry.*
      from unnest(
        ${places.map(({ streamId }) => streamId)}::text[],
        ${places.map(({ tail }) => tail)}::text[],
        ${places.map(({ seq }) => seq)}::bigint[]
      ) as asked (stream_id, tail, seq)
      cross join lateral (
        select log.stream_id, log.tail, log.seq, log.at, log.event, log.body from stream_log log
          where log.stream_id = asked.stream_id and log.tail = asked.tail and log.seq > asked.seq
          order by log.seq limit ${limit}
      ) entry`.execute(db);
  return rows.map(({ stream_id: streamId, at, ...entry }) => ({ streamId, atMs: at.getTime(), ...entry }));
}

/**
 * Deletes entries that no tail resumes from. The newest expired entry stays, so that a client that has received it
 * knows that it has missed nothing.
 */
export async function pruneLog(db: Db, now: Date): Promise<void> {
  for (const [tail, { entries, ageMs }] of Object.entries(LOG_RETENTION)) {
    const before = dateFromMs(now.getTime() - ageMs);
    await sql`
      with old as (
        select head.stream_id, greatest(head.seq - ${entries}, (
            select max(seq) from stream_log log
              where log.stream_id = head.stream_id and log.tail = head.tail and log.at < ${before}
          )) as seq
          from stream_log_head head where head.tail = ${tail}
      )
      delete from stream_log log using old
        where log.stream_id = old.stream_id and log.tail = ${tail} and log.seq < old.seq`.execute(db);
  }
}
