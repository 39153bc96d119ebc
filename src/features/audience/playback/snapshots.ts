/** Where playback learns of what it shows; filled by the feature that owns the rows. */
export interface SnapshotSource<T> {
  /** Undefined when there is none, or not any more. Of any workspace: viewers have none. */
  find(id: string): Promise<T | undefined>;
  /** Calls it with the id of whatever has changed for viewers. */
  onChanged(listener: (id: string) => void): void;
}

/** What viewers may be told of a video or a stream, as it was half a second ago at most. */
export interface Snapshots<T> {
  get(id: string): Promise<T | undefined>;
}

/** How long an answer is reused when no hint of a change arrives: start and stop show within a second. */
const FRESH_MS = 500;
const ENTRIES = 10_000;

/**
 * Reads for viewers, at most twice a second for each id however many watch.
 *
 * @param form of the ids: what looks like none never reaches the database.
 * @param entries so many are remembered; then all are forgotten.
 */
export function createSnapshots<T>(source: SnapshotSource<T>, form: RegExp, entries = ENTRIES): Snapshots<T> {
  const cache = new Map<string, { until: number; snapshot: Promise<T | undefined> }>();
  source.onChanged((id) => cache.delete(id));
  return {
    get(id) {
      if (!form.test(id)) return Promise.resolve(undefined);
      const known = cache.get(id);
      const now = performance.now();
      if (known !== undefined && known.until > now) return known.snapshot;
      if (cache.size >= entries) cache.clear();
      const snapshot = source.find(id);
      cache.set(id, { until: now + FRESH_MS, snapshot });
      snapshot.catch(() => cache.delete(id));
      return snapshot;
    },
  };
}
