import type { Accounts } from '../../identity/accounts/index.ts';
import type { Declarations, FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { hasWindows } from '../availability/index.ts';
import type { countBookings } from '../bookings/index.ts';
import type { hasCohort } from '../cohorts/index.ts';
import { productEvents } from './events.ts';
import { productRoutes } from './routes.ts';
import { createProducts, type Products } from './service.ts';

export { productDeleted, productUpdated } from './events.ts';
export { hasProduct } from './service.ts';

export const productsDeclarations: Declarations = { events: productEvents };

interface ProductsDeps extends Pick<Platform, 'clock' | 'config' | 'cursors' | 'db' | 'events'> {
  accounts: Accounts;
  hasWindows: typeof hasWindows;
  countBookings: typeof countBookings;
  hasCohort: typeof hasCohort;
}

export function createProductsModule(deps: ProductsDeps): FeatureModule & { products: Products } {
  const { accounts, config, cursors } = deps;
  const products = createProducts({ ...deps, bookingCounts: deps.countBookings });
  return {
    products,
    routes: () =>
      productRoutes({
        products,
        cursors,
        usernameOf: async (accountId) => (await accounts.byId(accountId)).username,
        publicUrl: config.PUBLIC_URL,
      }),
  };
}
