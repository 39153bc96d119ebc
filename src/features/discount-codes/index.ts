/** Discount codes: what a buyer types to pay less, once for each use (docs/concepts/discount-codes.md). */
export { discountCodeEvents } from './events.ts';
export { discountCodeRoutes } from './routes.ts';
export { type CodeUses, createDiscountCodes, type DiscountCodes, type Quote, type Sold } from './service.ts';
