import type { FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Availability } from '../availability/index.ts';
import type { calendar } from '../calendars/index.ts';
import type { Products } from '../products/index.ts';
import { slotRoutes } from './routes.ts';
import { createSlots, type Slots } from './service.ts';

interface SlotsDeps extends Pick<Platform, 'clock' | 'db'> {
  availability: Availability;
  products: Products;
  calendar: typeof calendar;
}

export function createSlotsModule(deps: SlotsDeps): FeatureModule & { slots: Slots } {
  const slots = createSlots(deps);
  return { slots, routes: () => slotRoutes({ slots }) };
}
