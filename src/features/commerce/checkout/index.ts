/**
 * Checkouts: the page on which a buyer pays, and what becomes of it (docs/concepts/checkout.md).
 *
 * Terminology: what is limited is *claimed* when the buyer presses Pay, and *freed* when no payment comes of it.
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
