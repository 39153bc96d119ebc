import type { Accounts } from '../../features/accounts/index.ts';
import { hasWindows } from '../../features/availability/index.ts';
import { countBookings } from '../../features/bookings/index.ts';
import { hasCohort } from '../../features/cohorts/index.ts';
import { createProducts, type Products, productRoutes } from '../../features/products/index.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

export function productsPart(base: Base & { accounts: Accounts }): Built<{ products: Products }> {
  const { accounts, config, cursors } = base;
  const products = createProducts({ ...base, hasWindows, hasCohort, bookingCounts: countBookings });
  return {
    gives: { products },
    part: {
      routes: () =>
        productRoutes({
          products,
          cursors,
          usernameOf: async (accountId) => (await accounts.byId(accountId)).username,
          publicUrl: config.PUBLIC_URL,
        }),
    },
  };
}
