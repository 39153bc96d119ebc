import {
  type Availability,
  availabilityRoutes,
  createAvailability,
} from '../../features/booking/availability/index.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function availabilityPart(base: BaseContext): ModuleWithExports<{ availability: Availability }> {
  const availability = createAvailability(base);
  return {
    exports: { availability },
    module: { routes: () => availabilityRoutes({ availability, db: base.db }) },
  };
}
