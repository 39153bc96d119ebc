import type { Availability } from '../../features/availability/index.ts';
import { calendar } from '../../features/calendars/index.ts';
import type { Products } from '../../features/products/index.ts';
import { createSlots, type Slots, slotRoutes } from '../../features/slots/index.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

export function slotsPart(
  base: Base & { products: Products; availability: Availability },
): Built<{ slots: Slots }> {
  const slots = createSlots({ ...base, calendar });
  return { gives: { slots }, part: { routes: () => slotRoutes({ slots }) } };
}
