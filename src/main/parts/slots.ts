import type { Availability } from '../../features/booking/availability/index.ts';
import { calendar } from '../../features/booking/calendars/index.ts';
import type { Products } from '../../features/booking/products/index.ts';
import { createSlots, type Slots, slotRoutes } from '../../features/booking/slots/index.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function slotsPart(
  base: BaseContext & { products: Products; availability: Availability },
): ModuleWithExports<{ slots: Slots }> {
  const slots = createSlots({ ...base, calendar });
  return { exports: { slots }, module: { routes: () => slotRoutes({ slots }) } };
}
