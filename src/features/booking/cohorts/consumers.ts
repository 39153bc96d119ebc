import { type EventConsumer, on } from '../../../events/index.ts';
import type { productDeleted, productUpdated } from '../products/index.ts';
import type { CohortStatusService } from './status.ts';

/**
 * Listens for products whose seats were changed: cohorts without a number of their own have as many; and for those that
 * go, with which their cohorts do.
 */
export function createCohortConsumers(deps: {
  states: CohortStatusService;
  productUpdated: typeof productUpdated;
  productDeleted: typeof productDeleted;
}): EventConsumer[] {
  return [
    on(deps.productUpdated, async (tx, { data }, append) => {
      if (data.changes.capacity === undefined) return;
      await deps.states.settleAll({ tx, append }, data.productId);
    }),
    on(deps.productDeleted, async (tx, { data }, append) => {
      // What was booked stands, in an archived one too.
      if (data.status !== 'ARCHIVED') await deps.states.cancelAll({ tx, append }, data.productId);
    }),
  ];
}
