import type { Accounts } from '../../features/accounts/index.ts';
import { hasWindows } from '../../features/availability/index.ts';
import { countBookings } from '../../features/bookings/index.ts';
import { hasCohort } from '../../features/cohorts/index.ts';
import { createProducts, type Products, productRoutes } from '../../features/products/index.ts';
import type { ModuleWithExports } from '../part.ts';
import type { BaseContext } from '../wiring.ts';

export function productsPart(base: BaseContext & { accounts: Accounts }): ModuleWithExports<{ products: Products }> {
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
