/** Discount codes: what a buyer types to pay less, once for each use (docs/concepts/discount-codes.md). */
export type { DiscountCodes, Quote } from './service.ts';
