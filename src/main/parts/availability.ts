import {
  type Availability,
  availabilityRoutes,
  createAvailability,
} from '../../features/availability/index.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

export function availabilityPart(base: Base): Built<{ availability: Availability }> {
  const availability = createAvailability(base);
  return {
    gives: { availability },
    part: { routes: () => availabilityRoutes({ availability, db: base.db }) },
  };
}
