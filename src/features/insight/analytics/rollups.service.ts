import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { UsageEvents } from '../usage-events/index.ts';
import type { RollupScope } from './beacons.repository.ts';
import * as closing from './compaction.repository.ts';
import { findProgress } from './reads.repository.ts';
import { planCompaction, planRecompaction, startOfInterval } from './rollup-intervals.rules.ts';
import * as counts from './rollup-writes.repository.ts';
import * as repository from './rollups.repository.ts';

/** Aggregation of usage events (docs/decisions/analytics.md#rollups). */
export interface Rollups {
  /** Adds usage events committed since the last run, unless another process does. @returns their number. */
  run(): Promise<number>;
  /**
   * Rebuilds the rollups of whole UTC days, one day at a time, while usage events arrive.
   *
   * @param from,to `YYYY-MM-DD`, both included.
   * @throws {Error} with a message for the operator, when a day is invalid or its usage events are deleted.
   */
  rebuild(from: string | undefined, to: string | undefined): Promise<{ days: string[] }>;
  /** Returns the lag of the rollups as known to this process: it grows while runs fail. */
  lagSec(): number;
}

interface Deps {
  db: Db;
  clock: Clock;
  facts: Pick<UsageEvents, 'renumber'>;
  /** Retention of usage events in days. */
  rawDays: number;
  /** Maximum usage events per transaction. */
  chunk?: number;
}

/** Default chunk: some seconds of work, and at most 100 MB of database memory. */
const CHUNK = 20_000;
/** Days for which unique viewers are stored: usage events of a day arrive on the next one at the latest. */
const SEEN_DAYS = 2;
/** Delay of compaction; later usage events are added to each interval separately. */
const CLOSED_AFTER_MS = 10 * MINUTE_MS;

/** @throws when usage events of one of the days have been deleted: rollups without them would be too low. */
async function assertUsageEvents(db: Db, firstMs: number, lastMs: number): Promise<void> {
  const missing = await repository.daysWithoutUsageEvents(
    db,
    dateFromMs(firstMs),
    dateFromMs(lastMs + DAY_MS),
  );
  if (missing.length === 0) return;
  throw new Error(`raw usage events of ${missing.join(', ')} have been deleted; their rollups are unchanged`);
}

export function createRollups({ db, clock, facts: written, rawDays, chunk = CHUNK }: Deps): Rollups {
  let freshMs = clock.ms();
  /** @returns the number of added usage events, and whether there are more. */
  const step = (horizon: repository.TransactionHorizon, at: Date) =>
    db.transaction().execute(async (tx) => {
      await repository.setPlannerOptions(tx);
      const state = await repository.lockState(tx, 'skip');
      if (state === undefined) return { facts: 0, isDone: true };
      const { nextXid: fromXid, closedUntil } = state;
      const found = await repository.findChunk(tx, fromXid, horizon.ended, chunk);
      const isDone = found.lastXid === null || found.facts < chunk;
      const belowXid = isDone ? later(fromXid, horizon.ended) : behind(found.lastXid);
      if (found.lastXid !== null) {
        const happened = { from: found.from.getTime(), to: found.to.getTime() + 1 };
        await addAll(tx, { ...scopeOf(fromXid, belowXid, happened), closedUntil });
      }
      await repository.advanceState(tx, belowXid);
      if (isDone) await repository.setFreshUntil(tx, horizon, at);
      return { facts: found.facts, isDone };
    });

  const rebuildDay = (fromMs: number) =>
    db.transaction().execute(async (tx) => {
      const state = await repository.lockState(tx, 'wait');
      if (state === undefined) return;
      const scope = scopeOf('0', state.nextXid, { from: fromMs, to: fromMs + DAY_MS });
      await repository.setPlannerOptions(tx);
      await repository.deleteSums(tx, scope);
      await addAll(tx, { ...scope, closedUntil: null });
      for (const one of planRecompaction(dateFromMs(fromMs), state.closedUntil)) {
        await closing.deleteRollups(tx, one);
        await closing.compactRollups(tx, one);
      }
    });

  return {
    async run() {
      await repository.insertState(db);
      const at = clock.now();
      const first = await repository.readTransactionHorizon(db);
      const horizon = (await resetAfterRestore({ db, facts: written }, first))
        ? await repository.readTransactionHorizon(db)
        : first;
      let facts = 0;
      for (let isDone = false; !isDone; ) {
        const added = await step(horizon, at);
        facts += added.facts;
        ({ isDone } = added);
      }
      freshMs = (await findProgress(db)).freshUntil?.getTime() ?? 0;
      // Nothing is known to be complete before the first full count.
      if (freshMs > 0) await closeUntil(db, startOfInterval(dateFromMs(freshMs - CLOSED_AFTER_MS), 15));
      await repository.deleteOldUniqueViewers(db, dateFromMs(dayOf(freshMs) - SEEN_DAYS * DAY_MS));
      return facts;
    },
    lagSec: () => Math.max(0, clock.ms() - freshMs) / 1000,
    async rebuild(from, to) {
      const { first, last } = parseDays({ from, to }, dayOf(clock.ms()), rawDays);
      await assertUsageEvents(db, first, last);
      await repository.insertState(db);
      const days: string[] = [];
      for (let day = first; day <= last; day += DAY_MS) {
        await rebuildDay(day);
        days.push(nameOf(day));
      }
      return { days };
    },
  };
}

/** Compacts intervals that have ended, one day per transaction, unless another process does. */
async function closeUntil(db: Db, target: Date): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await db.transaction().execute(async (tx) => {
      const state = await repository.lockState(tx, 'skip');
      if (state === undefined) return true;
      const from = state.closedUntil ?? (await closing.firstRollupAt(tx)) ?? target;
      if (from > target || state.closedUntil?.getTime() === target.getTime()) return true;
      const until = dateFromMs(Math.min(from.getTime() + DAY_MS, target.getTime()));
      await repository.setPlannerOptions(tx);
      if (state.closedUntil === null) await closing.deleteAllCompactedRollups(tx);
      for (const one of planCompaction(from, until)) await closing.compactRollups(tx, one);
      await closing.setCompactedUntil(tx, until);
      return until >= target;
    });
  }
}

/**
 * Resets the progress when its transaction ID is in the future, which means that the database was restored
 * from another server.
 *
 * @returns whether it was reset.
 */
function resetAfterRestore(
  { db, facts }: Pick<Deps, 'db' | 'facts'>,
  { begun }: repository.TransactionHorizon,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { nextXid } = (await repository.lockState(tx, 'skip')) ?? {};
    if (nextXid === undefined || BigInt(nextXid) <= BigInt(begun)) return false;
    const freshUntil = (await findProgress(tx)).freshUntil ?? dateFromMs(0);
    await facts.renumber(tx, { nextXid, freshUntil });
    await repository.resetState(tx);
    return true;
  });
}

async function addAll(tx: Tx, scope: RollupScope): Promise<void> {
  await counts.addContentMetrics(tx, scope);
  await counts.addUsage(tx, scope);
  await counts.addRequests(tx, scope);
}

function scopeOf(
  fromXid: string,
  belowXid: string,
  happened: { from: number; to: number },
): Omit<RollupScope, 'closedUntil'> {
  const from = dayOf(happened.from);
  const to = dayOf(happened.to - 1) + DAY_MS;
  const around = { from: dateFromMs(from - 2 * DAY_MS), to: dateFromMs(to + 2 * DAY_MS) };
  return { fromXid, belowXid, days: { from: dateFromMs(from), to: dateFromMs(to) }, around };
}

const dayOf = (ms: number) => Math.floor(ms / DAY_MS) * DAY_MS;
const nameOf = (ms: number) => dateFromMs(ms).toISOString().slice(0, 10);
const behind = (xid: string | null) => String(BigInt(xid ?? '0') + 1n);
const later = (one: string, other: string) => (BigInt(one) > BigInt(other) ? one : other);

/** @throws {Error} for days that cannot be rebuilt. */
function parseDays(
  { from, to }: { from: string | undefined; to: string | undefined },
  today: number,
  rawDays: number,
) {
  const oldest = today - (rawDays - 1) * DAY_MS;
  const first = from === undefined ? oldest : parseDay('--from', from);
  const last = to === undefined ? today : parseDay('--to', to);
  if (first < oldest) {
    const kept = `usage events are retained for ${rawDays} days (ANALYTICS_RAW_DAYS), and each day also needs those of the previous day`;
    throw new Error(
      `usage events of ${nameOf(first)} have been deleted: ${kept}; --from must be ${nameOf(oldest)} or later`,
    );
  }
  if (last > today) throw new Error(`--to must be ${nameOf(today)} (today in UTC) or earlier`);
  if (first > last) throw new Error('--from must not be after --to');
  return { first, last };
}

function parseDay(option: string, text: string): number {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms) || nameOf(ms) !== text)
    throw new Error(`${option} must be a date, such as 2026-11-20`);
  return ms;
}
