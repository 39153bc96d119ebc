/** Booking products: time that a creator sells (docs/concepts/booking-products.md). */
export type { productDeleted, productUpdated } from './events.ts';
export type { ProductRow } from './repository.ts';
export type { hasProduct, Products } from './service.ts';
