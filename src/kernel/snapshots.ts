import type { IdPrefix } from './ids.ts';

/** Source of the snapshots of playback; implemented by the feature that owns the rows. */
export interface SnapshotSource<T> {
  /**
   * Finds a snapshot in any workspace, because viewers have none; undefined when it is missing or deleted.
   */
  find(id: string): Promise<T | undefined>;
  /** Calls the listener with the ID of each item that has changed for viewers. */
  onChanged(listener: (id: string) => void): void;
}

/** Viewer-facing data of videos or streams, at most half a second old while the source responds. */
export interface Snapshots<T> {
  get(id: string): Promise<T | undefined>;
}

/** Rules for answers while the source is unavailable or slow (docs/decisions/playback-and-tokens.md#last-known-state). */
export interface LastKnownState<T> {
  /** Reports whether a failed read means that the source is unavailable. Other errors are thrown. */
  isUnavailable(error: unknown): boolean;
  /**
   * Returns the answer from the last snapshot; null when the snapshot must not be used.
   *
   * @param ageMs time since the snapshot was read.
   */
  answer(snapshot: T, ageMs: number): Promise<T | null>;
}

interface Options<T> {
  /** Maximum snapshots in memory. */
  maxEntries?: number;
  /** Default: a failed read fails the call. */
  lastKnown?: LastKnownState<T>;
}

/** Time a snapshot is reused without a change hint: start and stop are visible within a second. */
const FRESH_MS = 500;
/** Wait for a read before the last snapshot is used. */
const LATE_MS = 250;
/** Time after a read in which a change hint reads the item again, because it probably has viewers. */
const WATCHED_MS = 30_000;
const MAX_ENTRIES = 10_000;

/** Read of the source, and its result. */
interface Reading<T> {
  result: Promise<T | undefined>;
  startedMs: number;
  state: 'pending' | 'read' | 'unavailable' | 'failed';
  /** Resolves when the read has ended or is late. */
  inTime: Promise<void>;
}

interface Known<T> {
  snapshot: T;
  readMs: number;
  /** The item has changed since, so the snapshot must not be used. */
  isOutdated: boolean;
}

/**
 * Creates the reader of snapshots, which reads each ID at most twice a second, whatever the number of
 * viewers.
 *
 * @param prefix of valid IDs; other texts never reach the database.
 */
export function createSnapshots<T>(
  source: SnapshotSource<T>,
  prefix: IdPrefix,
  { maxEntries = MAX_ENTRIES, lastKnown }: Options<T> = {},
): Snapshots<T> {
  const form = new RegExp(`^${prefix}_[0-9a-z]{26}$`);
  const readings = new Map<string, Reading<T>>();
  const known = createLastSnapshots<T>(maxEntries);

  const begin = (id: string): Reading<T> => {
    if (readings.size >= maxEntries) readings.clear();
    const { promise: inTime, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LATE_MS);
    const startedMs = performance.now();
    const reading: Reading<T> = { result: source.find(id), startedMs, state: 'pending', inTime };
    readings.set(id, reading);
    const end = (state: Reading<T>['state']) => {
      reading.state = state;
      clearTimeout(timer);
      resolve();
    };
    reading.result.then(
      (snapshot) => {
        // After a change hint, a read that began before it is not current.
        if (lastKnown !== undefined && readings.get(id) === reading) known.set(id, snapshot, startedMs);
        end('read');
      },
      (error: unknown) => end(lastKnown?.isUnavailable(error) ? 'unavailable' : 'failed'),
    );
    return reading;
  };
  const answerFrom = async (id: string): Promise<T | null> => {
    const last = known.get(id);
    if (last === undefined || lastKnown === undefined) return null;
    return lastKnown.answer(last.snapshot, performance.now() - last.readMs);
  };

  source.onChanged((id) => {
    const last = readings.get(id);
    readings.delete(id);
    known.outdate(id);
    const isWatched = last !== undefined && performance.now() - last.startedMs < WATCHED_MS;
    // Otherwise an outage that begins now would leave its viewers without a usable snapshot.
    if (lastKnown !== undefined && isWatched) begin(id);
  });
  return {
    async get(id) {
      if (!form.test(id)) return undefined;
      const last = readings.get(id);
      const isCurrent =
        last !== undefined && (last.state === 'pending' || performance.now() - last.startedMs < FRESH_MS);
      const reading = isCurrent ? last : begin(id);
      if (lastKnown !== undefined) await reading.inTime;
      if (reading.state === 'pending' || reading.state === 'unavailable') {
        const answer = await answerFrom(id);
        if (answer !== null) return answer;
      }
      const isOver = reading.state === 'unavailable' || reading.state === 'failed';
      if (isOver && readings.get(id) === reading) readings.delete(id);
      return reading.result;
    },
  };
}

/**
 * Last snapshots of existing items, least recently read first. Missing items are not stored, so requests for
 * random IDs evict nothing.
 */
function createLastSnapshots<T>(maxEntries: number) {
  const entries = new Map<string, Known<T>>();
  return {
    get(id: string): Known<T> | undefined {
      const entry = entries.get(id);
      return entry?.isOutdated ? undefined : entry;
    },
    set(id: string, snapshot: T | undefined, readMs: number): void {
      entries.delete(id);
      if (snapshot === undefined) return;
      entries.set(id, { snapshot, readMs, isOutdated: false });
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
    },
    outdate(id: string): void {
      const entry = entries.get(id);
      if (entry !== undefined) entry.isOutdated = true;
    },
  };
}
