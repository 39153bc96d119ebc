import type { Db } from '../../../platform/db/index.ts';
import type { StreamStates } from '../stream-tails/index.ts';
import { visibleHealth } from './rules.ts';
import * as repository from './viewers.repository.ts';

/** Creates the reader of current viewers and health, for `/viewers` and for tails. */
export function createStreamStates({ db }: { db: Db }): StreamStates {
  return async (streamIds) => {
    const rows = await repository.findStates(db, streamIds);
    return new Map(
      rows.map((row) => {
        const { viewer_count: current, peak_viewers: peak, unique_viewers: unique } = row;
        return [
          row.id,
          { viewers: { current, peak: peak ?? 0, unique: unique ?? 0 }, health: visibleHealth(row) },
        ];
      }),
    );
  };
}
