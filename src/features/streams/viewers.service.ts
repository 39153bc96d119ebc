import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Db } from '../../platform/db/index.ts';
import * as repository from './viewers.repository.ts';
import { createAudiences, type ViewerIdentity, WATCHING_MS } from './viewers.ts';

/** How often `flush` should run, in milliseconds. */
export const VIEWER_FLUSH_MS = 5000;
/** The counts of a process that has said nothing for so long are those of a dead one. */
const NODE_FRESH_MS = WATCHING_MS + VIEWER_FLUSH_MS;

/** The broadcast that a viewer watches. */
export interface Watched {
  id: string;
  currentSessionId: string | null;
}

/**
 * `viewerCount`, `peakViewers` and `uniqueViewers`
 * (docs/decisions/views-and-viewers.md#viewers-of-a-broadcast). A viewer is a distinct address, user agent and
 * token that was given a media playlist in the last 15 seconds; previews do not count. Each api process counts
 * its own in memory and writes numbers only, which add up: a viewer whose requests are spread over several
 * processes counts in each, and after a restart everybody is a new unique viewer.
 */
export interface Viewers {
  seen(stream: Watched, viewer: ViewerIdentity): void;
  /** Writes what was counted. Every five seconds; what fails is written the next time. */
  flush(): Promise<void>;
  /** Takes this process's viewers out of the sums, before it ends. */
  leave(): Promise<void>;
}

export function createViewers({ db, clock }: { db: Db; clock: Clock }): Viewers {
  const nodeId = newId('nod');
  const audiences = createAudiences();
  /** What each stream's row says of this process; streams without viewers have no row. */
  let written = new Map<string, number>();
  /** Unique viewers that were added to the session of each stream. */
  const added = new Map<string, { sessionId: string; unique: number }>();

  const write = async (counts: repository.NodeCount[]) => {
    const now = clock.now();
    const freshSince = dateFromMs(now.getTime() - NODE_FRESH_MS);
    await db.transaction().execute(async (tx) => {
      await repository.writeCounts(tx, nodeId, counts, now);
      const locked = await repository.lockCounted(tx);
      if (locked.length === 0) return;
      await repository.sumCounts(tx, locked, freshSince);
      await repository.dropSpent(tx, locked, freshSince);
    });
    written = new Map(counts.filter(({ current }) => current > 0).map((one) => [one.streamId, one.current]));
  };

  return {
    seen: ({ id, currentSessionId }, viewer) => audiences.seen(id, currentSessionId, viewer, clock.ms()),
    async flush() {
      const counts = audiences.count(clock.ms());
      await write(counts.filter(({ streamId, current }) => current > 0 || written.has(streamId)));
      for (const { streamId, sessionId, unique } of counts) {
        if (sessionId === null) continue;
        const before = added.get(streamId);
        const known = before?.sessionId === sessionId ? before.unique : 0;
        if (unique <= known) continue;
        await repository.addUniqueViewers(db, sessionId, unique - known);
        added.set(streamId, { sessionId, unique });
      }
      const counted = new Set(counts.map(({ streamId }) => streamId));
      for (const streamId of added.keys()) if (!counted.has(streamId)) added.delete(streamId);
    },
    async leave() {
      await write([...written.keys()].map((streamId) => ({ streamId, current: 0 })));
    },
  };
}
