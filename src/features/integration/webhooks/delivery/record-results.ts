import { QUARTER_MS } from '../../../../kernel/durations.ts';
import type { Db } from '../../../../platform/db/index.ts';
import type { UsageEvent, UsageEvents } from '../../../insight/usage-events/index.ts';
import { type Finish, type Finished, finish } from './repository.ts';

export interface FinishDeps {
  db: Db;
  facts: Pick<UsageEvents, 'append'>;
}

/** Finishes attempts and counts them, together or not at all. @returns the jobs that were still ours. */
export async function finishCounted(
  { db, facts }: FinishDeps,
  batch: readonly Finish[],
): Promise<Finished[]> {
  return db.transaction().execute(async (tx) => {
    const done = await finish(tx, batch);
    await facts.append(tx, countsOf(done));
    return done;
  });
}

/** A fact for each workspace and quarter-hour, by which they are added up. */
function countsOf(done: readonly Finished[]): UsageEvent[] {
  const counts = new Map<string, UsageEvent & { amount: number }>();
  for (const { workspaceId, isAttempt, at } of done) {
    if (!isAttempt || at === null) continue;
    const name = `${workspaceId}/${Math.floor(at.getTime() / QUARTER_MS)}`;
    const fact = counts.get(name) ?? { kind: 'DELIVERY', workspaceId, at, amount: 0 };
    fact.amount += 1;
    counts.set(name, fact);
  }
  return [...counts.values()];
}
