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

/** Adds up what facts say (docs/decisions/analytics.md#rollups). */
export interface Rollups {
  /** Adds what was committed since the last run, unless another process is at it. @returns how many facts. */
  run(): Promise<number>;
  /**
   * Makes the sums of whole UTC days anew, one day after the other, while facts come in.
   *
   * @param from,to `YYYY-MM-DD`, both included.
   * @throws {Error} in words for people, where a day is none or its facts are not there any more.
   */
  rebuild(from: string | undefined, to: string | undefined): Promise<{ days: string[] }>;
  /** How far the sums are behind, as far as this process knows: runs that fail leave it growing. */
  lagSec(): number;
}

interface Deps {
  db: Db;
  clock: Clock;
  facts: Pick<UsageEvents, 'renumber'>;
  /** For so many days facts are kept. */
  rawDays: number;
  /** The most facts that are added in one transaction. */
  chunk?: number;
}

/** Some seconds of work, and 100 MB of the database's memory at most. */
const CHUNK = 20_000;
/** Facts of a day come on the next one at the latest. */
const SEEN_DAYS = 2;
/** What comes later than that is added to each span by itself. */
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
  /** @returns how many facts were added, and whether there are more. */
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
      // Before the first time that all was counted, nothing is known to be over.
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

/** Makes longer spans whose time is over, a day in each transaction, unless another process is at it. */
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
 * A place that no transaction has come to yet is of another server, where the database was before.
 *
 * @returns whether it was so.
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

/** @throws {Error} for days that cannot be made anew. */
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
  if (first > last) throw new Error('--from is not after --to');
  return { first, last };
}

function parseDay(option: string, text: string): number {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms) || nameOf(ms) !== text)
    throw new Error(`${option} must be a date, such as 2026-11-20`);
  return ms;
}
