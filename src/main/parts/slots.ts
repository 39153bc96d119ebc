import type { Availability } from '../../features/availability/index.ts';
import { calendar } from '../../features/calendars/index.ts';
import type { Products } from '../../features/products/index.ts';
import { createSlots, type Slots, slotRoutes } from '../../features/slots/index.ts';
import type { ModuleWithExports } from '../part.ts';
import type { BaseContext } from '../wiring.ts';

export function slotsPart(
  base: BaseContext & { products: Products; availability: Availability },
): ModuleWithExports<{ slots: Slots }> {
  const slots = createSlots({ ...base, calendar });
  return { exports: { slots }, module: { routes: () => slotRoutes({ slots }) } };
}
