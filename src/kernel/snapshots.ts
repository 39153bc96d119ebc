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

/** Viewer-facing data of videos or streams, at most half a second old. */
export interface Snapshots<T> {
  get(id: string): Promise<T | undefined>;
}

/** Time a snapshot is reused without a change hint: start and stop are visible within a second. */
const FRESH_MS = 500;
const ENTRIES = 10_000;

/**
 * Creates the reader of snapshots, which reads each ID at most twice a second, whatever the number of
 * viewers.
 *
 * @param prefix of valid IDs; other texts never reach the database.
 * @param entries the maximum cached entries; beyond it the cache is cleared.
 */
export function createSnapshots<T>(
  source: SnapshotSource<T>,
  prefix: IdPrefix,
  entries = ENTRIES,
): Snapshots<T> {
  const form = new RegExp(`^${prefix}_[0-9a-z]{26}$`);
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
