import { setTimeout as sleep } from 'node:timers/promises';
import * as kept from '../../../events/event-store.ts';
import { DELIVERIES_TOPIC } from '../../../events/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { TailSubscription } from './tail-subscription.ts';

/** Told with `<workspace>\n<type>\n<body>` of a triggered sample. */
export const SAMPLE_TOPIC = 'event-samples';
const BATCH = 100;
/** Interval of the reads when hints are lost. */
const POLL_MS = 1000;
/** Minimum pause between two reads, which combines the commits in between. */
const GAP_MS = 10;

interface Deps {
  db: Db;
  bus: Bus;
  log: Logger;
}

/** A workspace with open tails. */
interface Followed {
  place: kept.WorkspaceTailPosition;
  /** Whether all events up to `place` were handed out. */
  isRead: boolean;
  isHinted: boolean;
  /** Subscriptions that start with the next read. */
  joining: Set<TailSubscription>;
  seated: Set<TailSubscription>;
}

/**
 * Reads the log for all tails of this process: one query per read, only for the workspaces with new events,
 * and once a second for all of them (docs/decisions/event-streams.md#one-reader).
 */
export class LogReader {
  readonly #deps: Deps;
  readonly #followed = new Map<string, Followed>();
  #wake: () => void = () => {};
  #running: Promise<void> | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Subscribes to events committed after `seat.from`, which the next read sets.
   *
   * @returns the function that ends the subscription.
   */
  join(workspaceId: string, seat: TailSubscription): () => void {
    const followed = this.#followed.get(workspaceId) ?? unread(workspaceId);
    this.#followed.set(workspaceId, followed);
    followed.joining.add(seat);
    this.#running ??= this.#run();
    this.#wake();
    return () => {
      followed.joining.delete(seat);
      followed.seated.delete(seat);
      if (followed.joining.size + followed.seated.size > 0) return;
      if (this.#followed.get(workspaceId) === followed) this.#followed.delete(workspaceId);
      this.#wake();
    };
  }

  async #run(): Promise<void> {
    const unsubscribe = this.#subscribe();
    let pollAt = performance.now() + POLL_MS;
    while (this.#followed.size > 0) {
      const isPoll = performance.now() >= pollAt;
      if (isPoll) pollAt = performance.now() + POLL_MS;
      const due = [...this.#followed.values()].filter(
        ({ isHinted, joining }) => isPoll || isHinted || joining.size > 0,
      );
      if (due.length === 0) await this.#pause(pollAt - performance.now());
      else await this.#look(due);
    }
    unsubscribe();
    this.#running = null;
  }

  async #look(due: readonly Followed[]): Promise<void> {
    try {
      // Finish what a failed read left.
      await this.#read(due);
      // Before the snapshot: a hint that comes from here on, or who joins, is for the next one.
      const joining = due.map((followed) => [...followed.joining]);
      for (const followed of due) followed.isHinted = false;
      const now = await kept.currentSnapshot(this.#deps.db);
      for (const followed of due) moveOn(followed, now);
      await this.#read(due);
      for (const [at, followed] of due.entries()) seatAll(followed, joining[at] ?? [], now);
      await sleep(GAP_MS);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'cannot read the event log; event streams are delayed');
      for (const followed of due) followed.isHinted = true;
      await sleep(POLL_MS);
    }
  }

  async #read(due: readonly Followed[]): Promise<void> {
    let unread = due.filter(({ isRead }) => !isRead);
    while (unread.length > 0) {
      const places = unread.map(({ place }) => place);
      const rows = Map.groupBy(
        await kept.readEventsBetween(this.#deps.db, places, BATCH),
        ({ workspaceId }) => workspaceId,
      );
      for (const followed of unread) handOut(followed, rows.get(followed.place.workspaceId) ?? []);
      unread = unread.filter(({ isRead }) => !isRead);
    }
  }

  #subscribe(): () => void {
    const { bus } = this.#deps;
    const unsubscribes = [
      bus.subscribe(DELIVERIES_TOPIC, (workspaceId) => {
        const followed = this.#followed.get(workspaceId);
        if (followed === undefined) return;
        followed.isHinted = true;
        this.#wake();
      }),
      bus.subscribe(SAMPLE_TOPIC, (payload) => {
        const [workspaceId = '', type = '', body = ''] = payload.split('\n');
        for (const seat of this.#followed.get(workspaceId)?.seated ?? []) seat.show(type, body);
      }),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }
}

function unread(workspaceId: string): Followed {
  const place = { workspaceId, before: '', now: '', seq: '0' };
  return { place, isRead: true, isHinted: false, joining: new Set(), seated: new Set() };
}

/**
 * Advances to the current snapshot, including the events committed since; without subscribers it skips them.
 */
function moveOn(followed: Followed, now: string): void {
  const isFirst = followed.seated.size === 0;
  followed.place = { ...followed.place, before: isFirst ? now : followed.place.now, now, seq: '0' };
  followed.isRead = isFirst;
}

function handOut(followed: Followed, rows: readonly kept.TailEvent[]): void {
  for (const row of rows) {
    followed.place = { ...followed.place, seq: row.seq };
    for (const seat of followed.seated) {
      if (!seat.offer(row, followed.place)) followed.seated.delete(seat);
    }
  }
  followed.isRead = rows.length < BATCH;
}

function seatAll(followed: Followed, seats: readonly TailSubscription[], now: string): void {
  for (const seat of seats) {
    // It may have been given up while we read.
    if (!followed.joining.delete(seat)) continue;
    followed.seated.add(seat);
    seat.begin(now);
  }
}
