import type { Availability } from '../../features/booking/availability/index.ts';
import { calendar } from '../../features/booking/calendars/index.ts';
import {
  type Cohorts,
  cohortRoutes,
  createCohortConsumers,
  createCohorts,
  createStates,
} from '../../features/booking/cohorts/index.ts';
import { type Products, productDeleted, productUpdated } from '../../features/booking/products/index.ts';
import { hasVideo } from '../../features/video/videos/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

/** Interval within which due sessions begin, open and end. */
const SWEEP_MS = 5 * INTERVALS.second;

export function cohortsPart(
  base: BaseContext & { availability: Availability; products: Products },
): ModuleWithExports<{ cohorts: Cohorts }> {
  const { availability, cursors } = base;
  const states = createStates(base);
  const cohorts = createCohorts({
    ...base,
    states,
    calendar,
    hasVideo,
    timezoneOf: async (db, workspaceId) => (await availability.of(db, workspaceId)).timezone,
  });
  return {
    exports: { cohorts },
    module: {
      routes: () => cohortRoutes({ cohorts, cursors }),
      tasks: () => [{ name: 'cohorts', everyMs: SWEEP_MS, run: () => cohorts.sweep() }],
      consumers: createCohortConsumers({ states, productUpdated, productDeleted }),
    },
  };
}
