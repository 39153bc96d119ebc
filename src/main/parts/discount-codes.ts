import { hasProduct } from '../../features/booking/products/index.ts';
import {
  createDiscountCodes,
  type DiscountCodes,
  discountCodeRoutes,
} from '../../features/commerce/discount-codes/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function discountCodesPart(base: BaseContext): ModuleWithExports<{ discountCodes: DiscountCodes }> {
  const { cursors, clock } = base;
  const discountCodes = createDiscountCodes({ ...base, hasProduct });
  return {
    exports: { discountCodes },
    module: {
      routes: () => discountCodeRoutes({ discountCodes, cursors, clock }),
      tasks: () => [
        { name: 'expired discount codes', everyMs: INTERVALS.minute, run: () => discountCodes.tellExpired() },
      ],
    },
  };
}
