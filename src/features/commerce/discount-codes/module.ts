import type { hasProduct } from '../../booking/products/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { discountCodeEvents } from './events.ts';
import { discountCodeRoutes } from './routes.ts';
import { createDiscountCodes, type DiscountCodes } from './service.ts';

export const discountCodesDeclarations: Declarations = { events: discountCodeEvents };

interface DiscountCodesDeps extends Pick<Platform, 'clock' | 'cursors' | 'db' | 'events'> {
  hasProduct: typeof hasProduct;
}

export function createDiscountCodesModule(
  deps: DiscountCodesDeps,
): FeatureModule & { discountCodes: DiscountCodes } {
  const { cursors, clock } = deps;
  const discountCodes = createDiscountCodes(deps);
  return {
    discountCodes,
    routes: () => discountCodeRoutes({ discountCodes, cursors, clock }),
    tasks: () => [
      { name: 'expired discount codes', everyMs: INTERVALS.minute, run: () => discountCodes.tellExpired() },
    ],
  };
}
