import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { BuyerPurchaseRow, SaleRow } from './purchases.repository.ts';
import type { PaymentRow, PurchaseRow } from './repository.ts';
import { netOf } from './rules.ts';

const Cents = Type.Integer({ minimum: 0 });
const currency = OneOf(['USD']);

const common = {
  id: IdOf('pur'),
  kind: OneOf(VALUES.purchase.kind),
  videoId: Nullable(Type.String()),
  bookingId: Nullable(Type.String()),
  subscriptionId: Nullable(Type.String()),
  amountCents: Type.Integer({ minimum: 0, description: 'Amount the buyer pays.' }),
  discountCents: Type.Integer({ minimum: 0, description: 'Discount subtracted from the price.' }),
  refundedCents: Cents,
  currency,
  status: OneOf(VALUES.purchase.status),
  discountCode: Nullable(Type.String()),
  paidAt: Nullable(Instant),
  createdAt: Instant,
  mode: OneOf(MODES),
};

const example = {
  id: 'pur_01kafe3n4pfx2v9yq6m8d7t5zr',
  kind: 'VIDEO',
  videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
  bookingId: null,
  subscriptionId: null,
  amountCents: 900,
  discountCents: 100,
  refundedCents: 0,
  currency: 'USD',
  status: 'PAID',
  discountCode: 'SPRING',
  paidAt: '2026-11-20T09:00:00.000Z',
  createdAt: '2026-11-20T09:00:00.000Z',
  mode: 'live',
} as const;

export const Purchase = namedSchema(
  'Purchase',
  Type.Object({
    ...common,
    buyerId: IdOf('cus'),
    buyerEmail: Type.String(),
    feeCents: Type.Integer({ minimum: 0, description: 'Platform fee, included in the amount.' }),
    netCents: Type.Integer({ description: "Creator's current net amount, after refunds and fees." }),
    paymentId: Nullable(Type.String({ description: 'ID of the latest charge.' })),
  }),
  {
    ...example,
    buyerId: 'cus_01kafe3n4pfx2v9yq6m8d7t5zr',
    buyerEmail: 'grace@example.com',
    feeCents: 90,
    netCents: 810,
    paymentId: 'pay_01kafe3n4pfx2v9yq6m8d7t5zr',
  },
);

export const OwnPurchase = namedSchema(
  'OwnPurchase',
  Type.Object({
    ...common,
    seller: Type.Object({ username: Type.String(), displayName: Type.String() }),
  }),
  { ...example, seller: { username: 'ada', displayName: 'Ada Lovelace' } },
);

function toCommon(row: PurchaseRow, mode: Mode) {
  return {
    id: row.id,
    kind: row.kind,
    videoId: row.video_id,
    bookingId: row.booking_id,
    subscriptionId: row.subscription_id,
    amountCents: row.amount_cents,
    discountCents: row.discount_cents,
    refundedCents: row.refunded_cents,
    currency: 'USD' as const,
    status: row.status,
    discountCode: row.discount_code,
    paidAt: row.paid_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    mode,
  };
}

export function toPurchase(row: SaleRow, mode: Mode): Static<typeof Purchase> {
  return {
    ...toCommon(row, mode),
    buyerId: row.customer_id,
    buyerEmail: row.buyer_email,
    feeCents: row.fee_cents,
    netCents: netOf(row),
    paymentId: row.payment_id,
  };
}

export function toOwnPurchase(row: BuyerPurchaseRow, mode: Mode): Static<typeof OwnPurchase> {
  const { seller_username: username, seller_name: name } = row;
  return { ...toCommon(row, mode), seller: { username, displayName: name ?? username } };
}

export const RefundIn = namedSchema(
  'RefundCreate',
  Type.Object({
    amountCents: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Defaults to the remaining amount.' }),
    ),
    reason: Type.Optional(
      Type.String({ maxLength: 500, description: 'Internal note; not shown to the buyer.' }),
    ),
    requestId: Type.String({
      minLength: 8,
      maxLength: 200,
      description: 'Idempotency token of your choice, such as a UUID: repeating it returns the same refund.',
    }),
  }),
  { amountCents: 500, reason: 'Poor audio quality.', requestId: '7b0d2f1e-5c6a-4a0c-9a51-0d5b7f3f4f10' },
);

export const Payment = namedSchema(
  'Payment',
  Type.Object({
    id: IdOf('pay'),
    purchaseId: Nullable(Type.String()),
    type: OneOf(VALUES.payment.type),
    amountCents: Type.Integer({ description: 'Negative for refunds.' }),
    currency,
    status: OneOf(VALUES.payment.status),
    failureCode: Nullable(Type.String()),
    provider: OneOf(VALUES.payment.provider),
    createdAt: Instant,
  }),
  {
    id: 'pay_01kafe3n4pfx2v9yq6m8d7t5zr',
    purchaseId: 'pur_01kafe3n4pfx2v9yq6m8d7t5zr',
    type: 'CHARGE',
    amountCents: 900,
    currency: 'USD',
    status: 'SUCCEEDED',
    failureCode: null,
    provider: 'STRIPE',
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);

export function toPayment(row: PaymentRow): Static<typeof Payment> {
  return {
    id: row.id,
    purchaseId: row.purchase_id,
    type: row.type,
    amountCents: row.amount_cents,
    currency: 'USD',
    status: row.status,
    failureCode: row.failure_code,
    provider: row.provider,
    createdAt: row.created_at.toISOString(),
  };
}

export const ConnectStatus = namedSchema(
  'ConnectStatus',
  Type.Object({
    provider: Nullable(
      OneOf(['SANDBOX', 'STRIPE'], { description: 'Null if the operator has not configured a provider.' }),
    ),
    connected: Type.Boolean({ description: 'Whether an account with the payment provider exists.' }),
    chargesEnabled: Type.Boolean(),
    payoutsEnabled: Type.Boolean(),
    detailsSubmitted: Type.Boolean(),
    requirementsDue: Type.Array(Type.String(), { description: 'Information the provider still requires.' }),
    country: Nullable(Type.String({ description: 'ISO 3166-1.' })),
  }),
  {
    provider: 'STRIPE',
    connected: true,
    chargesEnabled: true,
    payoutsEnabled: true,
    detailsSubmitted: true,
    requirementsDue: [],
    country: 'US',
  },
);

export const ConnectLink = namedSchema(
  'ConnectLink',
  Type.Object({ url: Type.String(), expiresAt: Instant }),
  {
    url: 'https://connect.stripe.com/setup/s/abc',
    expiresAt: '2026-11-20T09:05:00.000Z',
  },
);

export const ConnectPage = namedSchema('ConnectPage', Type.Object({ url: Type.String() }), {
  url: 'https://connect.stripe.com/express/abc',
});
