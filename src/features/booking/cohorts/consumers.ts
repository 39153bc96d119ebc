import { type EventConsumer, on } from '../../../events/index.ts';
import type { productDeleted, productUpdated } from '../products/index.ts';
import type { CohortStatusService } from './status.ts';

/**
 * Consumes product changes: cohorts without a capacity of their own follow the product's, and cohorts of a
 * deleted product are canceled.
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
      // Bookings of an archived product remain.
      if (data.status !== 'ARCHIVED') await deps.states.cancelAll({ tx, append }, data.productId);
    }),
  ];
}
