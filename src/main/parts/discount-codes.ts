import {
  createDiscountCodes,
  type DiscountCodes,
  discountCodeRoutes,
} from '../../features/discount-codes/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

export function discountCodesPart(base: Base): Built<{ discountCodes: DiscountCodes }> {
  const { cursors, clock } = base;
  // Products come with booking.
  const discountCodes = createDiscountCodes({ ...base, hasProduct: async () => false });
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
