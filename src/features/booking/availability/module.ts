import type { FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { availabilityRoutes } from './routes.ts';
import { type Availability, createAvailability } from './service.ts';

export { hasWindows } from './service.ts';

interface AvailabilityDeps extends Pick<Platform, 'clock' | 'db'> {}

export function createAvailabilityModule(
  deps: AvailabilityDeps,
): FeatureModule & { availability: Availability } {
  const availability = createAvailability(deps);
  return {
    availability,
    routes: () => availabilityRoutes({ availability, db: deps.db }),
  };
}
