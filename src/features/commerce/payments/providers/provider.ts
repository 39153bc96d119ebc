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

/** A card that the provider keeps; what is shown of it. */
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
  /** For the person who pays, in one sentence. */
  message: string;
}

/** What became of a payment. SUCCEEDED and FAILED are final. */
export type PaymentResult =
  | { status: 'SUCCEEDED'; ref: string; method: SavedMethod | null }
  | Decline
  /** The buyer goes there, and then comes back to `returnUrl`. */
  | { status: 'ACTION'; ref: string; url: string }
  /** Ask again later. */
  | { status: 'PENDING'; ref: string };

export type RefundResult = { status: 'SUCCEEDED' | 'PENDING'; ref: string } | Decline;

/** Who pays. `ref` is the provider's name for them, once it has one. */
export interface Payer {
  id: string;
  email: string;
  ref: string | null;
}

export interface SavedChargeRequest {
  /** Ours: the same key is the same payment, however often it is asked for. */
  key: string;
  workspaceId: string;
  amountCents: number;
  currency: 'USD';
  /** Of the amount, what is the platform's. */
  feeCents: number;
  description: string;
  /** The creator's account there; null where it has none of its own. */
  accountRef: string | null;
  customer: Payer;
  methodRef: string;
}

export interface ChargeRequest extends Omit<SavedChargeRequest, 'methodRef'> {
  /** The card is charged again later. */
  saveMethod: boolean;
  returnUrl: string;
  cancelUrl: string;
  /** Until then the buyer may complete it. */
  expiresAt: Date;
  /** Sandbox: the number of a test card; without one the saved card is charged. */
  card: string | null;
  savedRef: string | null;
}

/** What a card is given for: the subscription of a checkout, or whatever its holder chooses it for later. */
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

/** One payment, as the provider is asked about it. */
export interface PaymentHandle {
  key: string;
  workspaceId: string;
  /** null: it has not answered yet. */
  ref: string | null;
  accountRef: string | null;
}

export interface RefundRequest {
  key: string;
  /** Of the charge. */
  ref: string;
  amountCents: number;
  accountRef: string | null;
}

/** Something that the provider says has changed. Never a fact: the object is fetched afresh. */
export interface ProviderEvent {
  id: string;
  kind: ProviderEventKind;
  objectRef: string;
  accountRef: string | null;
}

/** Whose object is fetched. */
export interface ObjectHandle {
  ref: string;
  accountRef: string | null;
}

export interface FetchedPayment {
  /** The key it was asked for with; null for one that is not ours. */
  key: string | null;
  answer: PaymentResult;
}

export interface FetchedRefund {
  /** null for one that was made at the provider itself. */
  key: string | null;
  /** Was it taken from the creator's account? The platform has borne it otherwise. */
  isCreators: boolean;
  /** Of the charge. */
  paymentRef: string;
  amountCents: number;
  answer: RefundResult;
}

export interface FetchedDispute {
  /** Of the charge. */
  paymentRef: string;
  amountCents: number;
  status: 'OPEN' | 'WON' | 'LOST';
  reason: string | null;
}

export interface FetchedPayout {
  /** In the smallest unit of the currency. */
  amountCents: number;
  /** ISO 4217, in capital letters. */
  currency: string;
  status: 'PENDING' | 'IN_TRANSIT' | 'PAID' | 'FAILED' | 'CANCELED';
  failureCode: string | null;
  arrivalAt: Date | null;
  createdAt: Date;
}

/** A payout with its name at the provider. */
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
  /** Null where that is not on record. */
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
  /** Where a link that has expired leads. */
  refreshUrl: string;
}

/**
 * Who moves the money (docs/decisions/money.md#providers). Every call may be repeated with the same key. Each throws
 * `ProviderUnavailable` where nothing is known of what became of it.
 */
export interface PaymentProvider {
  readonly name: ProviderName;
  /** Resolves where it can be asked, and knows us. */
  ping(): Promise<void>;
  /** The buyer is there. */
  charge(request: ChargeRequest): Promise<PaymentResult>;
  /** A renewal: nobody is there, so what wants a person fails with AUTHENTICATION_REQUIRED. */
  chargeSaved(request: SavedChargeRequest): Promise<PaymentResult>;
  /** Keeps a card without a charge. */
  saveMethod(request: SaveMethodRequest): Promise<PaymentResult>;
  /** What became of it; null: the provider never heard of it. */
  look(payment: PaymentHandle): Promise<PaymentResult | null>;
  /** Ends a payment that waits for its buyer; SUCCEEDED when it was too late. */
  cancel(payment: PaymentHandle): Promise<PaymentResult>;
  refund(request: RefundRequest): Promise<RefundResult>;
  /**
   * Takes what a lost dispute has cost from the creator's account, and returns the part of the fee.
   *
   * @returns false where it cannot be taken: the platform bears it.
   */
  recover(request: RefundRequest): Promise<boolean>;
  /** @returns its name there. */
  createAccount(request: NewAccount): Promise<string>;
  accountState(accountRef: string): Promise<AccountState>;
  onboardingLink(request: OnboardingRequest): Promise<{ url: string; expiresAt: Date }>;
  dashboardLink(accountRef: string): Promise<{ url: string }>;
  /** Checks signature and age; null: not the provider's. An event that concerns nothing of ours is 'OTHER'. */
  readWebhook(rawBody: Buffer, headers: IncomingHttpHeaders): Promise<ProviderEvent | 'OTHER' | null>;
  /** What it has told since then, for whom a message did not reach; those that are known come again. */
  toldSince(at: Date): Promise<ProviderEvent[]>;
  /** Each null for what the provider does not know. */
  fetchPayment(object: ObjectHandle): Promise<FetchedPayment | null>;
  fetchRefund(object: ObjectHandle): Promise<FetchedRefund | null>;
  fetchDispute(object: ObjectHandle): Promise<FetchedDispute | null>;
  fetchPayout(object: ObjectHandle): Promise<FetchedPayout | null>;
  /** The payouts of an account that were made since then. */
  payoutsSince(accountRef: string, at: Date): Promise<PayoutWithRef[]>;
  /** Pays out of an account at once, beside what the provider does by itself. */
  payOut(request: PayoutRequest): Promise<PayoutResult>;
  fetchMethod(object: ObjectHandle): Promise<FetchedMethod | null>;
  /** Deletes what it keeps of a customer, whose cards go along. Payments stay, as the law wants them. */
  forgetCustomer(customer: Pick<Payer, 'id' | 'ref'>): Promise<void>;
}

/** The provider cannot be reached, answers with an error of its own, or too late: nothing is known. */
export class ProviderUnavailableError extends Error {}
