/**
 * Checkouts: the page on which a buyer pays, and the result (docs/concepts/checkout.md).
 *
 * Terminology: limited items are *reserved* when the buyer presses Pay, and *released* when no payment
 * results.
 */
export { buyPages } from './buy.pages.ts';
export { checkoutPages } from './checkout.pages.ts';
export { createCheckoutConsumers } from './consumers.ts';
export { checkoutEvents } from './events.ts';
export { type CheckoutPayments, createCheckoutPayments } from './pay.service.ts';
export type { CheckoutPorts } from './ports.ts';
export { checkoutRoutes } from './routes.ts';
export { successUrl } from './rules.ts';
export { type Checkouts, createCheckouts } from './service.ts';
export { createCheckoutSimulations } from './simulation.service.ts';
