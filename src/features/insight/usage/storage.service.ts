import type { Clock } from '../../../kernel/clock.ts';
import { QUARTER_MS } from '../../../kernel/durations.ts';
import type { Db } from '../../../platform/db/index.ts';
import { listWorkspacesWithStorage } from '../../../platform/db/workspace.ts';
import type { UsageEvents } from '../usage-events/index.ts';

const BATCH = 1000;

/** Sampler of stored bytes, which runs every quarter-hour (docs/decisions/usage.md#storage). */
export interface StorageSampler {
  /** Samples once per quarter-hour and process; does nothing otherwise. */
  run(): Promise<void>;
}

interface Deps {
  db: Db;
  clock: Clock;
  facts: Pick<UsageEvents, 'append'>;
}

export function createStorageSampler({ db, clock, facts }: Deps): StorageSampler {
  let seen: number | null = null;
  return {
    async run() {
      const at = clock.now();
      const quarter = Math.floor(at.getTime() / QUARTER_MS);
      if (quarter === seen) return;
      for (let after = ''; ; ) {
        const rows = await listWorkspacesWithStorage(db, after, BATCH);
        // Other processes may sample too: the maximum of a quarter-hour counts, not the sum.
        await db.transaction().execute((tx) =>
          facts.append(
            tx,
            rows.map(({ id, storageBytes }) => ({
              kind: 'STORAGE',
              workspaceId: id,
              amount: storageBytes,
              at,
            })),
          ),
        );
        const last = rows.at(-1);
        if (last === undefined || rows.length < BATCH) break;
        after = last.id;
      }
      seen = quarter;
    },
  };
}
