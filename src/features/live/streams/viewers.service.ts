import { createHmac } from 'node:crypto';
import { type Clock, dateFromMs, utcDay } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type {
  Salts,
  ViewerFingerprint,
  ViewerFingerprints,
} from '../../audience/viewer-fingerprints/index.ts';
import type { UsageEvent, UsageEvents } from '../../insight/usage-events/index.ts';
import {
  createPresence,
  MAX_VIEW_INTERVAL_MS,
  type ViewerIdentity,
  type ViewerSignal,
  type ViewInterval,
  type WatchedBroadcast,
} from './viewer-presence.ts';
import * as repository from './viewers.repository.ts';

/** Recommended interval of `flush`. */
export const VIEWER_FLUSH_MS = 5000;

const BATCH = 2000;
const HASH_BYTES = 9;
/** Retention of salts (two days) and of viewers left behind by ended broadcasts. */
const RETENTION_MS = 2 * DAY_MS;
/** Intervals of viewer samples: while the number is steady, and after it has changed. */
const SAMPLE_MS = { steady: 60_000, changed: 15_000 };

/**
 * Viewers of broadcasts: `viewerCount`, `peakViewers` and `uniqueViewers`
 * (docs/decisions/views-and-viewers.md#viewers-of-a-broadcast). Signals are collected in memory and written
 * together; the database adds them up across processes.
 */
export interface Viewers {
  /**
   * Records a signal of a viewer who may watch the broadcast.
   *
   * @param arrivalOf returns the fingerprint for usage events; called once for each viewer.
   */
  seen(
    stream: WatchedBroadcast,
    viewer: ViewerIdentity,
    arrivalOf: () => ViewerFingerprint,
    sign?: ViewerSignal,
  ): void;
  /**
   * Writes the collected signals and counts; runs every five seconds. Failed writes are retried by the next
   * run.
   */
  flush(): Promise<void>;
  /** Deletes the salts of past days and the hashes made with them; runs every hour. */
  forget(): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'sign'>;
  salts: Salts;
  arrivals: Pick<ViewerFingerprints, 'viewerOf'>;
  facts: Pick<UsageEvents, 'append'>;
}

export function createViewers(deps: Deps): Viewers {
  const { db, clock, secrets, salts, facts } = deps;
  const presence = createPresence((text) => secrets.sign('viewer', text));

  const write = async (stays: readonly ViewInterval[], now: Date) => {
    for (let at = 0; at < stays.length; at += BATCH) {
      const batch = stays.slice(at, at + BATCH);
      const stored = await storedStays(deps, batch);
      await db.transaction().execute(async (tx) => {
        const added = new Set((await repository.writeViewIntervals(tx, stored, now)).map(nameOf));
        const isAdded = (_stay: ViewInterval, index: number) => added.has(nameOf(stored[index]));
        await facts.append(tx, await viewsOf(deps, batch.filter(isAdded)));
      });
      presence.written(batch);
    }
  };
  const flush = async () => {
    const now = clock.now();
    await write(presence.unwritten(), now);
    await db.transaction().execute((tx) => count(deps, tx, now));
    // The time now: the clock may have moved since, and a viewer may have been noted by it.
    presence.forget(clock.ms());
  };
  let running: Promise<void> = Promise.resolve();

  return {
    seen: (stream, viewer, arrivalOf, sign = 'playlist') =>
      presence.note(stream, viewer, sign, arrivalOf, clock.ms()),
    flush() {
      // Serialized: a concurrent run would write the uncommitted intervals of the previous one again.
      running = running.then(flush, flush);
      return running;
    },
    async forget() {
      const nowMs = clock.ms();
      await salts.forget();
      await repository.deleteStaleViewers(db, {
        from: dateFromMs(nowMs - RETENTION_MS),
        until: dateFromMs(nowMs + DAY_MS),
      });
    },
  };
}

/** Counts under the lock of the streams, so that only one of several processes counts. */
async function count({ facts }: Deps, tx: Tx, now: Date): Promise<void> {
  const locked = await repository.lockWatched(tx);
  if (locked.length === 0) return;
  const ids = locked.map(({ id }) => id);
  const before = (ms: number) => dateFromMs(now.getTime() - ms);
  const during = { now, latest: before(-MAX_VIEW_INTERVAL_MS) };
  await repository.countViewers(tx, ids, during);
  const moves = await repository.countJoinsAndLeaves(tx, ids, during);
  const due = { now, steady: before(SAMPLE_MS.steady), changed: before(SAMPLE_MS.changed) };
  const samples = await repository.sampleViewerCounts(tx, ids, due);
  await repository.deleteEndedViewers(tx, ids, now);
  const workspaceOf = new Map(locked.map((stream) => [stream.id, stream.workspace_id]));
  const factOf = (kind: UsageEvent['kind'], streamId: string, amount: number): UsageEvent => {
    return { kind, workspaceId: workspaceOf.get(streamId) ?? '', subjectId: streamId, at: now, amount };
  };
  await facts.append(tx, [
    ...moves.filter(({ joins }) => joins > 0).map(({ streamId, joins }) => factOf('JOIN', streamId, joins)),
    ...moves
      .filter(({ leaves }) => leaves > 0)
      .map(({ streamId, leaves }) => factOf('LEAVE', streamId, leaves)),
    ...samples.map(({ streamId, viewers }) => factOf('PRESENCE', streamId, viewers)),
  ]);
}

/** Returns a view for each viewer who is new to a session: exactly those that its `uniqueViewers` counts. */
function viewsOf({ arrivals }: Deps, stays: readonly ViewInterval[]): Promise<UsageEvent[]> {
  return Promise.all(
    stays.map(async ({ workspaceId, streamId, arrival, sinceMs }): Promise<UsageEvent> => {
      const at = dateFromMs(sinceMs);
      const viewer = await arrivals.viewerOf(arrival, at);
      return { kind: 'VIEW', workspaceId, subjectId: streamId, at, viewer };
    }),
  );
}

const nameOf = (stay: repository.NewViewer | undefined) => `${stay?.streamId} ${stay?.viewer}`;

/** Converts the intervals, and loads the salts for `viewsOf` before its transaction. */
async function storedStays(
  { salts }: Deps,
  stays: readonly ViewInterval[],
): Promise<repository.StoredViewInterval[]> {
  const saltOf = new Map<string, Buffer>();
  const days = stays.flatMap(({ day, sinceMs }) => [day, utcDay(sinceMs)]);
  for (const day of new Set(days)) saltOf.set(day, await salts.of(day));
  return stays.map((stay) => toStored(stay, saltOf.get(stay.day) ?? Buffer.alloc(0)));
}

function toStored({ streamId, sessionId, day, who, hasBeacon, untilMs }: ViewInterval, salt: Buffer) {
  const text = JSON.stringify([streamId, sessionId, who]);
  const viewer = createHmac('sha256', salt).update(text).digest().subarray(0, HASH_BYTES).toString('hex');
  return { streamId, viewer, sessionId, day, hasBeacon, until: dateFromMs(untilMs) };
}
