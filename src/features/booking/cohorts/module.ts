import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { hasVideo } from '../../video/videos/index.ts';
import type { Availability } from '../availability/index.ts';
import type { calendar } from '../calendars/index.ts';
import type { Products, productDeleted, productUpdated } from '../products/index.ts';
import { createCohortConsumers } from './consumers.ts';
import { cohortEvents } from './events.ts';
import { cohortRoutes } from './routes.ts';
import { type Cohorts, createCohorts } from './service.ts';
import { createStates } from './status.ts';

export { cohortCanceled, cohortCompleted, cohortRescheduled } from './events.ts';
export { hasCohort } from './repository.ts';

export const cohortsDeclarations: Declarations = { events: cohortEvents };

interface CohortsDeps extends Pick<Platform, 'clock' | 'cursors' | 'db' | 'events'> {
  availability: Availability;
  products: Products;
  calendar: typeof calendar;
  productDeleted: typeof productDeleted;
  productUpdated: typeof productUpdated;
  hasVideo: typeof hasVideo;
}

/** Interval within which due sessions begin, open and end. */
const SWEEP_MS = 5 * INTERVALS.second;

export function createCohortsModule(deps: CohortsDeps): FeatureModule & { cohorts: Cohorts } {
  const { availability, cursors } = deps;
  const states = createStates(deps);
  const cohorts = createCohorts({
    ...deps,
    states,
    timezoneOf: async (db, workspaceId) => (await availability.of(db, workspaceId)).timezone,
  });
  return {
    cohorts,
    routes: () => cohortRoutes({ cohorts, cursors }),
    tasks: () => [{ name: 'cohorts', everyMs: SWEEP_MS, run: () => cohorts.sweep() }],
    consumers: createCohortConsumers({ ...deps, states }),
  };
}
