/**
 * Checkouts: the page on which a buyer pays, and the result (docs/concepts/checkout.md).
 *
 * Terminology: limited items are *reserved* when the buyer presses Pay, and *released* when no payment
 * results.
 */
export type { successUrl } from './rules.ts';
export type { Checkouts } from './service.ts';
