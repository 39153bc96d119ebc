/** Payments: customers, purchases, charges, refunds and disputes, and the providers that move the money. */
export { createConnectAccounts } from './accounts.service.ts';
export { type CardService, type CollectedCard, createCardService } from './cards.service.ts';
export type { NewCharge, PendingCharge } from './charge.service.ts';
export { createPaymentEmails } from './consumers.ts';
export { type CustomerDeletion, createCustomerDeletion } from './customer-deletion.service.ts';
export {
  type PaymentEvents,
  paymentDisputeClosed,
  paymentDisputed,
  paymentEvents,
  paymentFailed,
  paymentRefunded,
  paymentSucceeded,
} from './events.ts';
export { deleteCustomersJob, settleRefundJob } from './jobs.ts';
export type { PaymentEventData } from './outcome.ts';
export type { Providers } from './ports.ts';
export type { SelectedProvider } from './provider-selection.ts';
export {
  type ChargeRequest,
  type PaymentProvider,
  type PaymentResult,
  ProviderUnavailableError,
  type SavedChargeRequest,
} from './providers/provider.ts';
export { testCardOf } from './providers/sandbox/cards.ts';
export { sandboxPages } from './providers/sandbox/sandbox.pages.ts';
export { createSandbox, type Sandbox } from './providers/sandbox/sandbox.ts';

export { createStripe, STRIPE_PAGES } from './providers/stripe/stripe.ts';
export { createPurchases } from './purchases.service.ts';
export type { CustomerRow, PaymentRow, PurchaseRow } from './repository.ts';
export { paymentRoutes, purchaseRoutes } from './routes.ts';
export { createPayments, type Payments } from './service.ts';
export type { SettledPayment } from './settle.service.ts';
export { stripeWebhookPage } from './stripe.pages.ts';
