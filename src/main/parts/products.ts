import { hasWindows } from '../../features/booking/availability/index.ts';
import { countBookings } from '../../features/booking/bookings/index.ts';
import { hasCohort } from '../../features/booking/cohorts/index.ts';
import { createProducts, type Products, productRoutes } from '../../features/booking/products/index.ts';
import type { Accounts } from '../../features/identity/accounts/index.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function productsPart(
  base: BaseContext & { accounts: Accounts },
): ModuleWithExports<{ products: Products }> {
  const { accounts, config, cursors } = base;
  const products = createProducts({ ...base, hasWindows, hasCohort, bookingCounts: countBookings });
  return {
    exports: { products },
    module: {
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
