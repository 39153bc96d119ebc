/** Discount codes: what a buyer types to pay less, once for each use (docs/concepts/discount-codes.md). */
export { discountCodeEvents } from './events.ts';
export { discountCodeRoutes } from './routes.ts';
export {
  type CodeRedemptions,
  createDiscountCodes,
  type DiscountCodes,
  type DiscountTarget,
  type Quote,
} from './service.ts';
