import { setTimeout as sleep } from 'node:timers/promises';
import * as log from '../../../events/stream-log.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { Logger } from '../../../platform/logger.ts';

/** Log entry in the form sent to tails of this log only; `event` is null when its content was removed. */
export interface TailEntry extends log.LogPosition {
  event: { readonly event: string; readonly id: string; readonly data: string } | null;
}

export interface Follower {
  take(tail: log.LoggedTail, entry: TailEntry): void;
}

/** Log of a stream that has followers. */
interface Feed extends log.LogCursor {
  /** Position up to which all entries were handed out. */
  position: log.LogPosition;
  /** Null once the position is known. */
  opening: Promise<void> | null;
  isHinted: boolean;
  followers: Set<Follower>;
  /** Followers that wait for the position. */
  joining: number;
}

export interface TailCursor extends log.LogCursor {
  /** Creation time of the stream: the position before its first entry. */
  createdAtMs: number;
}

interface Deps {
  db: Db;
  bus: Bus;
  log: Logger;
  /** Topics whose payload is the ID of a changed stream. */
  topics: readonly string[];
}

const BATCH = 200;
/** Interval of the reads when hints are lost. */
const POLL_MS = 1000;
/** Minimum interval between two reads; each read combines the commits in between. */
const GAP_MS = 10;
/**
 * Maximum interval between two reads. The interval is the time the last read took to be written to all
 * followers, so that the rest of the process gets half of the time.
 */
const MAX_GAP_MS = 500;

const keyOf = ({ streamId, tail }: log.LogCursor) => `${tail} ${streamId}`;

/**
 * Reader of the stream logs for all tails of this process: one statement per read, only for streams with
 * changes, and once a second for all followed streams.
 */
export class StreamLogReader {
  readonly #deps: Deps;
  readonly #feeds = new Map<string, Feed>();
  #wake: () => void = () => {};
  #running: Promise<void> | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Passes entries committed after the positions to the follower.
   *
   * @returns the positions, and the function that unsubscribes.
   */
  async follow(
    places: readonly TailCursor[],
    follower: Follower,
  ): Promise<{ positions: Map<log.LoggedTail, log.LogPosition>; leave: () => void }> {
    const feeds = places.map((place) => this.#feedOf(place));
    for (const feed of feeds) feed.joining += 1;
    try {
      for (const feed of feeds) await feed.opening;
    } catch (error) {
      for (const feed of feeds) this.#drop(feed);
      throw error;
    } finally {
      for (const feed of feeds) feed.joining -= 1;
    }
    // Runs without an await, so that the follower gets every entry after these positions.
    for (const feed of feeds) feed.followers.add(follower);
    this.#start();
    return {
      positions: new Map(feeds.map(({ tail, position }) => [tail, position])),
      leave: () => {
        for (const feed of feeds) {
          feed.followers.delete(follower);
          this.#drop(feed);
        }
      },
    };
  }

  #feedOf(place: TailCursor): Feed {
    const key = keyOf(place);
    const known = this.#feeds.get(key);
    if (known !== undefined) return known;
    const { streamId, tail, createdAtMs } = place;
    const feed: Feed = {
      streamId,
      tail,
      position: { seq: 0, atMs: createdAtMs },
      opening: null,
      isHinted: true,
      followers: new Set(),
      joining: 0,
    };
    feed.opening = log.latestPositions(this.#deps.db, [feed]).then(([head]) => {
      if (head !== undefined) feed.position = head.position;
      feed.opening = null;
    });
    // Joining followers get the error; this handler only prevents an unhandled rejection.
    feed.opening.catch(() => {});
    this.#feeds.set(key, feed);
    return feed;
  }

  #drop(feed: Feed): void {
    if (feed.followers.size + feed.joining > 0) return;
    if (this.#feeds.get(keyOf(feed)) === feed) this.#feeds.delete(keyOf(feed));
    if (this.#feeds.size === 0) this.#wake();
  }

  /** Runs the read loop while there are followers. */
  #start(): void {
    if (this.#feeds.size === 0) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      this.#start();
    });
  }

  async #run(): Promise<void> {
    const unsubscribes = this.#deps.topics.map((topic) =>
      this.#deps.bus.subscribe(topic, (streamId) => this.#hint(streamId)),
    );
    let pollAt = performance.now() + POLL_MS;
    while (this.#feeds.size > 0) {
      const isPoll = performance.now() >= pollAt;
      if (isPoll) pollAt = performance.now() + POLL_MS;
      const due = [...this.#feeds.values()].filter(
        ({ opening, isHinted }) => opening === null && (isPoll || isHinted),
      );
      if (due.length === 0) await this.#pause(Math.max(1, pollAt - performance.now()));
      else await this.#look(due);
    }
    for (const unsubscribe of unsubscribes) unsubscribe();
  }

  #hint(streamId: string): void {
    let isFollowed = false;
    for (const tail of VALUES.stream_log.tail) {
      const feed = this.#feeds.get(keyOf({ streamId, tail }));
      if (feed === undefined) continue;
      feed.isHinted = true;
      isFollowed = true;
    }
    if (isFollowed) this.#wake();
  }

  async #look(due: readonly Feed[]): Promise<void> {
    try {
      // Cleared before the read: a later hint triggers the next one.
      for (const feed of due) feed.isHinted = false;
      const places = due.map(({ streamId, tail, position: { seq } }) => ({ streamId, tail, seq }));
      const rows = Map.groupBy(await log.entriesAfter(this.#deps.db, places, BATCH), keyOf);
      const begun = performance.now();
      for (const feed of due) handOut(feed, rows.get(keyOf(feed)) ?? []);
      // The sockets are written after this turn.
      await new Promise(setImmediate);
      await sleep(Math.min(MAX_GAP_MS, Math.max(GAP_MS, performance.now() - begun)));
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'cannot read the stream log; stream events are delayed');
      for (const feed of due) feed.isHinted = true;
      await sleep(POLL_MS);
    }
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

function handOut(feed: Feed, rows: readonly log.LogEntry[]): void {
  for (const row of rows) {
    const entry = toRead(row);
    feed.position = { seq: row.seq, atMs: row.atMs };
    for (const follower of feed.followers) follower.take(feed.tail, entry);
  }
  if (rows.length === BATCH) feed.isHinted = true;
}

export function toRead({ seq, atMs, event, body }: log.LogEntry): TailEntry {
  return { seq, atMs, event: body === null ? null : { event, id: `${atMs}-${seq}`, data: body } };
}
