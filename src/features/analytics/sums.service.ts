import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/durations.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Facts } from '../facts/index.ts';
import type { Scope } from './beacons.repository.ts';
import * as counts from './counts.repository.ts';
import { findFreshUntil } from './reads.repository.ts';
import * as repository from './sums.repository.ts';

/** Adds up what facts say (docs/decisions/analytics.md#sums). */
export interface Sums {
  /** Adds what was committed since the last run, unless another process is at it. @returns how many facts. */
  run(): Promise<number>;
  /**
   * Makes the sums of whole UTC days anew, one day after the other, while facts come in.
   *
   * @param from,to `YYYY-MM-DD`, both included.
   * @throws {Error} in words for people, where a day is none or its facts are not there any more.
   */
  rebuild(from: string | undefined, to: string | undefined): Promise<{ days: string[] }>;
}

interface Deps {
  db: Db;
  clock: Clock;
  facts: Pick<Facts, 'renumber'>;
  /** For so many days facts are kept. */
  rawDays: number;
  /** How far the sums are behind. */
  onRun(behindSec: number): void;
  /** The most facts that are added in one transaction. */
  chunk?: number;
}

/** Some seconds of work, and 100 MB of the database's memory at most. */
const CHUNK = 20_000;
/** Facts of a day come on the next one at the latest. */
const SEEN_DAYS = 2;

export function createSums({ db, clock, facts: written, rawDays, onRun, chunk = CHUNK }: Deps): Sums {
  /** @returns how many facts were added, and whether there are more. */
  const step = (horizon: repository.Horizon, at: Date) =>
    db.transaction().execute(async (tx) => {
      await repository.planForFacts(tx);
      const fromXid = await repository.lockState(tx, 'skip');
      if (fromXid === undefined) return { facts: 0, isDone: true };
      const found = await repository.findChunk(tx, fromXid, horizon.ended, chunk);
      const isDone = found.lastXid === null || found.facts < chunk;
      const belowXid = isDone ? later(fromXid, horizon.ended) : behind(found.lastXid);
      if (found.lastXid !== null) {
        await addAll(
          tx,
          scopeOf(fromXid, belowXid, { from: found.from.getTime(), to: found.to.getTime() + 1 }),
        );
      }
      await repository.moveState(tx, belowXid);
      if (isDone) await repository.markFresh(tx, horizon, at);
      return { facts: found.facts, isDone };
    });

  const rebuildDay = (fromMs: number) =>
    db.transaction().execute(async (tx) => {
      const belowXid = await repository.lockState(tx, 'wait');
      if (belowXid === undefined) return;
      const scope = scopeOf('0', belowXid, { from: fromMs, to: fromMs + DAY_MS });
      await repository.deleteSums(tx, scope);
      await repository.planForFacts(tx);
      await addAll(tx, scope);
    });

  return {
    async run() {
      await repository.insertState(db);
      const at = clock.now();
      const first = await repository.readHorizon(db);
      const horizon = (await adopt({ db, facts: written }, first)) ? await repository.readHorizon(db) : first;
      let facts = 0;
      for (let isDone = false; !isDone; ) {
        const added = await step(horizon, at);
        facts += added.facts;
        ({ isDone } = added);
      }
      const fresh = (await findFreshUntil(db))?.getTime() ?? 0;
      await repository.deleteSeen(db, dateFromMs(dayOf(fresh) - SEEN_DAYS * DAY_MS));
      onRun(Math.max(0, clock.ms() - fresh) / 1000);
      return facts;
    },
    async rebuild(from, to) {
      const { first, last } = parseDays({ from, to }, dayOf(clock.ms()), rawDays);
      const gone = await repository.daysWithoutFacts(db, dateFromMs(first), dateFromMs(last + DAY_MS));
      if (gone.length > 0)
        throw new Error(`the facts of ${gone.join(', ')} are gone, and the sums of them stay`);
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

/**
 * A place that no transaction has come to yet is of another server, where the database was before.
 *
 * @returns whether it was so.
 */
function adopt({ db, facts }: Pick<Deps, 'db' | 'facts'>, { begun }: repository.Horizon): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const nextXid = await repository.lockState(tx, 'skip');
    if (nextXid === undefined || BigInt(nextXid) <= BigInt(begun)) return false;
    const freshUntil = (await findFreshUntil(tx)) ?? dateFromMs(0);
    await facts.renumber(tx, { nextXid, freshUntil });
    await repository.resetState(tx);
    return true;
  });
}

async function addAll(tx: Tx, scope: Scope): Promise<void> {
  await counts.addCounts(tx, scope);
  await counts.addUsage(tx, scope);
  await counts.addRequests(tx, scope);
}

function scopeOf(fromXid: string, belowXid: string, happened: { from: number; to: number }): Scope {
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
    const kept = `facts are kept for ${rawDays} days (ANALYTICS_RAW_DAYS), and a day needs those of the one before`;
    throw new Error(
      `the facts of ${nameOf(first)} are gone: ${kept}; --from is ${nameOf(oldest)} at the earliest`,
    );
  }
  if (last > today) throw new Error(`--to is ${nameOf(today)} at the latest, today in UTC`);
  if (first > last) throw new Error('--from is not after --to');
  return { first, last };
}

function parseDay(option: string, text: string): number {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms) || nameOf(ms) !== text) throw new Error(`${option} is a day such as 2026-11-20`);
  return ms;
}
