/** Payments: customers, purchases, charges, refunds and disputes, and the providers that move the money. */
export type { CardService, CollectedCard } from './cards.service.ts';
export type { NewCharge } from './charge.service.ts';
export type { CustomerDeletion } from './customer-deletion.service.ts';
export type { PaymentEvents, paymentFailed, paymentSucceeded } from './events.ts';
export type { PaymentEventData } from './outcome.ts';
export type { testCardOf } from './providers/sandbox/cards.ts';
export type { STRIPE_PAGES } from './providers/stripe/stripe.ts';
export type { CustomerRow } from './repository.ts';
export type { Payments } from './service.ts';
