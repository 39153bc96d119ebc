/** Booking products: time that a creator sells (docs/concepts/booking-products.md). */
export { productDeleted, productEvents, productUpdated } from './events.ts';
export type { ProductRow } from './repository.ts';
export { productRoutes } from './routes.ts';
export { createProducts, hasProduct, type Products } from './service.ts';
