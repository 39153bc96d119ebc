import {
  createDiscountCodes,
  type DiscountCodes,
  discountCodeRoutes,
} from '../../features/discount-codes/index.ts';
import { hasProduct } from '../../features/products/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

export function discountCodesPart(base: Base): Built<{ discountCodes: DiscountCodes }> {
  const { cursors, clock } = base;
  const discountCodes = createDiscountCodes({ ...base, hasProduct });
  return {
    gives: { discountCodes },
    part: {
      routes: () => discountCodeRoutes({ discountCodes, cursors, clock }),
      tasks: () => [
        { name: 'expired discount codes', everyMs: EVERY.minute, run: () => discountCodes.tellExpired() },
      ],
    },
  };
}
