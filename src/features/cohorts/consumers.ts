import { type EventConsumer, on } from '../../events/index.ts';
import type { productUpdated } from '../products/index.ts';
import type { States } from './states.ts';

/** Listens for products whose seats were changed: cohorts without a number of their own have as many. */
export function createCohortConsumers(deps: {
  states: States;
  productUpdated: typeof productUpdated;
}): EventConsumer[] {
  return [
    on(deps.productUpdated, async (tx, { data }, append) => {
      if (data.changes.capacity === undefined) return;
      await deps.states.settleAll({ tx, append }, data.productId);
    }),
  ];
}
