import type { IncomingHttpHeaders } from 'node:http';
import type { ConnectAccountProvider, ProviderEventKind } from '../../../../platform/db/tables.generated.ts';

export type ProviderName = ConnectAccountProvider;

/** Why a charge or a refund did not come about (docs/concepts/payments.md#failure-codes). */
export type DeclineCode =
  | 'CARD_DECLINED'
  | 'INSUFFICIENT_FUNDS'
  | 'CARD_EXPIRED'
  | 'AUTHENTICATION_REQUIRED'
  | 'AUTHENTICATION_FAILED'
  | 'CARD_MISSING'
  | 'EXPIRED'
  | 'CANCELED'
  | 'REFUND_REFUSED'
  | 'PROVIDER_ERROR';

/** Card stored by the provider, with its displayed details. */
export interface SavedMethod {
  customerRef: string;
  methodRef: string;
  brand: string;
  last4: string;
  /** 1 to 12. */
  expMonth: number;
  /** Four digits. */
  expYear: number;
}

export interface Decline {
  status: 'FAILED';
  ref: string | null;
  code: DeclineCode;
  /** Message for the buyer, in one sentence. */
  message: string;
}

/** Result of a payment. SUCCEEDED and FAILED are final. */
export type PaymentResult =
  | { status: 'SUCCEEDED'; ref: string; method: SavedMethod | null }
  | Decline
  /** The buyer is redirected there, and returns to `returnUrl`. */
  | { status: 'ACTION'; ref: string; url: string }
  /** Ask again later. */
  | { status: 'PENDING'; ref: string };

export type RefundResult = { status: 'SUCCEEDED' | 'PENDING'; ref: string } | Decline;

/** Customer who pays. `ref` is the provider's ID of the customer, once there is one. */
export interface Payer {
  id: string;
  email: string;
  ref: string | null;
}

export interface SavedChargeRequest {
  /** Our key: the same key is the same payment, regardless of the number of calls. */
  key: string;
  workspaceId: string;
  amountCents: number;
  currency: 'USD';
  /** Platform's part of the amount. */
  feeCents: number;
  description: string;
  /** The creator's account at the provider; null where it has none of its own. */
  accountRef: string | null;
  customer: Payer;
  methodRef: string;
}

export interface ChargeRequest extends Omit<SavedChargeRequest, 'methodRef'> {
  /** Whether the card is charged again later. */
  saveMethod: boolean;
  returnUrl: string;
  cancelUrl: string;
  /** Deadline for the buyer to complete it. */
  expiresAt: Date;
  /** Sandbox: the number of a test card; without one the saved card is charged. */
  card: string | null;
  savedRef: string | null;
}

/** Purpose of a card: the subscription of a checkout, or those that its holder selects later. */
export type MethodUse = { checkoutId: string } | 'MEMBER_PAGE';

export interface SaveMethodRequest {
  key: string;
  workspaceId: string;
  accountRef: string | null;
  customer: Payer;
  usedFor: MethodUse;
  returnUrl: string;
  cancelUrl: string;
  /** Sandbox: the number of a test card. */
  card: string | null;
}

/** Reference to a payment in provider calls. */
export interface PaymentHandle {
  key: string;
  workspaceId: string;
  /** Null until it has answered. */
  ref: string | null;
  accountRef: string | null;
}

export interface RefundRequest {
  key: string;
  /** Provider reference of the charge. */
  ref: string;
  amountCents: number;
  accountRef: string | null;
}

/** Change reported by the provider. Its data is never trusted: the object is fetched. */
export interface ProviderEvent {
  id: string;
  kind: ProviderEventKind;
  objectRef: string;
  accountRef: string | null;
}

/** Object to fetch, and its account. */
export interface ObjectHandle {
  ref: string;
  accountRef: string | null;
}

export interface FetchedPayment {
  /** Key of the request; null for a payment of others. */
  key: string | null;
  answer: PaymentResult;
}

export interface FetchedRefund {
  /** Null for one that was made at the provider itself. */
  key: string | null;
  /** Whether it was taken from the creator's account; otherwise the platform bore it. */
  isCreators: boolean;
  /** Provider reference of the charge. */
  paymentRef: string;
  amountCents: number;
  answer: RefundResult;
}

export interface FetchedDispute {
  /** Provider reference of the charge. */
  paymentRef: string;
  amountCents: number;
  status: 'OPEN' | 'WON' | 'LOST';
  reason: string | null;
}

export interface FetchedPayout {
  /** Amount in the smallest unit of the currency. */
  amountCents: number;
  /** ISO 4217, in capital letters. */
  currency: string;
  status: 'PENDING' | 'IN_TRANSIT' | 'PAID' | 'FAILED' | 'CANCELED';
  failureCode: string | null;
  arrivalAt: Date | null;
  createdAt: Date;
}

/** Payout with its ID at the provider. */
export interface PayoutWithRef extends FetchedPayout {
  ref: string;
}

export interface PayoutRequest {
  key: string;
  accountRef: string;
  /** null: all that can be paid out. */
  amountCents: number | null;
}

export type PayoutResult =
  | { status: 'MADE'; payout: PayoutWithRef }
  | { status: 'TOO_MUCH' }
  /** `message` is for the operator. */
  | { status: 'REFUSED'; message: string };

export interface FetchedMethod {
  /** Our id of the customer. */
  customerId: string;
  method: SavedMethod;
  /** Null where the purpose is not recorded. */
  usedFor: MethodUse | null;
}

/** The creator's account with the provider. */
export interface AccountState {
  chargesEnabled: boolean;
  payoutsEnabled: boolean;
  detailsSubmitted: boolean;
  requirementsDue: string[];
  /** ISO 3166-1, two letters. */
  country: string | null;
}

export interface NewAccount {
  workspaceId: string;
  email: string;
}

export interface OnboardingRequest {
  accountRef: string;
  returnUrl: string;
  /** URL to which an expired link leads. */
  refreshUrl: string;
}

/**
 * Provider that moves the money (docs/decisions/money.md#providers). Every call may be repeated with the same
 * key. Each throws `ProviderUnavailableError` when the outcome is unknown.
 */
export interface PaymentProvider {
  readonly name: ProviderName;
  /** Resolves when the provider is available and accepts our credentials. */
  ping(): Promise<void>;
  /** Charges a buyer who is present. */
  charge(request: ChargeRequest): Promise<PaymentResult>;
  /**
   * Charges a renewal in the buyer's absence: a charge that requires the buyer fails with
   * AUTHENTICATION_REQUIRED.
   */
  chargeSaved(request: SavedChargeRequest): Promise<PaymentResult>;
  /** Stores a card without a charge. */
  saveMethod(request: SaveMethodRequest): Promise<PaymentResult>;
  /** Returns the result of a payment; null when the provider does not know it. */
  look(payment: PaymentHandle): Promise<PaymentResult | null>;
  /** Ends a payment that waits for its buyer; SUCCEEDED when it was too late. */
  cancel(payment: PaymentHandle): Promise<PaymentResult>;
  refund(request: RefundRequest): Promise<RefundResult>;
  /** Recovers the cost of a lost dispute from the creator's account, and returns the part of the fee. */
  recover(request: RefundRequest): Promise<boolean>;
  /** @returns its ID at the provider. */
  createAccount(request: NewAccount): Promise<string>;
  accountState(accountRef: string): Promise<AccountState>;
  onboardingLink(request: OnboardingRequest): Promise<{ url: string; expiresAt: Date }>;
  dashboardLink(accountRef: string): Promise<{ url: string }>;
  /**
   * Verifies signature and age. Returns null when it is not the provider's, and 'OTHER' for irrelevant
   * events.
   */
  readWebhook(rawBody: Buffer, headers: IncomingHttpHeaders): Promise<ProviderEvent | 'OTHER' | null>;
  /** Lists the events since then, including those already received, in case a webhook was lost. */
  toldSince(at: Date): Promise<ProviderEvent[]>;
  /** Returns null when the provider does not know the object; so do the other fetches. */
  fetchPayment(object: ObjectHandle): Promise<FetchedPayment | null>;
  fetchRefund(object: ObjectHandle): Promise<FetchedRefund | null>;
  fetchDispute(object: ObjectHandle): Promise<FetchedDispute | null>;
  fetchPayout(object: ObjectHandle): Promise<FetchedPayout | null>;
  /** Lists the payouts of an account that were created since then. */
  payoutsSince(accountRef: string, at: Date): Promise<PayoutWithRef[]>;
  /** Pays out of an account immediately, in addition to the provider's automatic payouts. */
  payOut(request: PayoutRequest): Promise<PayoutResult>;
  fetchMethod(object: ObjectHandle): Promise<FetchedMethod | null>;
  /** Deletes the provider's data of a customer, including the cards. Payments stay, as required by law. */
  forgetCustomer(customer: Pick<Payer, 'id' | 'ref'>): Promise<void>;
}

/** Error of a provider that is unavailable, fails, or responds too late: the outcome is unknown. */
export class ProviderUnavailableError extends Error {}
