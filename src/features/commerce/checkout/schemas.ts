import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Metadata, Nullable, NullableObject, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { type CheckoutRow, statusOf } from './rules.ts';

const Address = Type.String({ minLength: 1, maxLength: 2048 });

const settings = {
  successUrl: Address,
  cancelUrl: Address,
  customerEmail: Type.Optional(
    Type.String({ minLength: 1, maxLength: 254, description: 'Prefills the form; the buyer can change it.' }),
  ),
  discountCode: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  clientReferenceId: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  metadata: Type.Optional(Metadata),
};
/** Settings common to all kinds of checkouts. */
export type CheckoutSettings = Static<typeof Settings>;
const Settings = Type.Object(settings);

const ADDRESSES = {
  successUrl: 'https://shop.example.com/thanks',
  cancelUrl: 'https://shop.example.com/offers',
};

export const SubscriptionCheckoutIn = namedSchema(
  'SubscriptionCheckoutCreate',
  Type.Object({ tierId: Type.String({ maxLength: 64 }), ...settings }),
  { tierId: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr', ...ADDRESSES },
);

export const VideoCheckoutIn = namedSchema(
  'VideoCheckoutCreate',
  Type.Object({ videoId: Type.String({ maxLength: 64 }), ...settings }),
  { videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr', ...ADDRESSES },
);

const { customerEmail: _, ...bookingSettings } = settings;

export const BookingCheckoutIn = namedSchema(
  'BookingCheckoutCreate',
  Type.Object({
    productId: Type.String({ maxLength: 64 }),
    startsAt: Type.Optional(
      Type.String({
        ...Instant,
        description: 'For ONE_TO_ONE and LIVE_CLASS: the start of one of its slots.',
      }),
    ),
    cohortId: Type.Optional(Type.String({ maxLength: 64, description: 'For COHORT: the cohort ID.' })),
    customer: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 120, pattern: '\\S' }),
      email: Type.String({ minLength: 1, maxLength: 254 }),
      timezone: Type.Optional(Nullable(Type.String({ maxLength: 64, description: 'IANA time zone.' }))),
    }),
    intakeAnswers: Type.Optional(
      NullableObject(
        Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), {
          maxProperties: 50,
          description: "Answers by the keys of the product's `intakeFields`.",
        }),
      ),
    ),
    ...bookingSettings,
  }),
  {
    productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
    startsAt: '2026-11-20T09:00:00.000Z',
    customer: { name: 'Ada Lovelace', email: 'ada@example.com', timezone: 'Europe/London' },
    ...ADDRESSES,
  },
);
export type BookingCheckoutIn = Static<typeof BookingCheckoutIn>;

export const OUTCOMES = ['PAID', 'DECLINED', 'EXPIRED'] as const;
export const SimulationIn = namedSchema('CheckoutSimulation', Type.Object({ outcome: OneOf(OUTCOMES) }), {
  outcome: 'PAID',
});

export const Checkout = namedSchema(
  'Checkout',
  Type.Object({
    id: IdOf('chk'),
    kind: OneOf(VALUES.checkout.kind),
    status: OneOf(VALUES.checkout.status),
    url: Type.String({ description: 'URL of the page where the buyer pays.' }),
    tierId: Nullable(Type.String()),
    videoId: Nullable(Type.String()),
    bookingId: Nullable(Type.String()),
    amountCents: Type.Integer({ description: 'Amount the buyer pays: the price minus the discount.' }),
    discountCents: Type.Integer(),
    currency: OneOf(['USD'] as const),
    discountCode: Nullable(Type.String()),
    subscriptionId: Nullable(Type.String()),
    successUrl: Type.String(),
    cancelUrl: Type.String(),
    clientReferenceId: Nullable(Type.String()),
    metadata: Metadata,
    expiresAt: Instant,
    completedAt: Nullable(Instant),
    createdAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'chk_01kafe3n4pfx2v9yq6m8d7t5zr',
    kind: 'SUBSCRIPTION',
    status: 'OPEN',
    url: 'https://video.example.com/checkout/chk_01kafe3n4pfx2v9yq6m8d7t5zr',
    tierId: 'tier_01kafe3n4pfx2v9yq6m8d7t5zr',
    videoId: null,
    bookingId: null,
    amountCents: 500,
    discountCents: 0,
    currency: 'USD',
    discountCode: null,
    subscriptionId: null,
    ...ADDRESSES,
    clientReferenceId: 'order-17',
    metadata: {},
    expiresAt: '2026-11-21T09:00:00.000Z',
    completedAt: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

/** @param platform.publicUrl without a slash at the end. */
export function toCheckout(
  row: CheckoutRow,
  { mode, now, publicUrl }: { mode: Mode; now: Date; publicUrl: string },
): Static<typeof Checkout> {
  return {
    id: row.id,
    kind: row.kind,
    status: statusOf(row, now),
    url: `${publicUrl}/checkout/${row.id}`,
    tierId: row.tier_id,
    videoId: row.video_id,
    bookingId: row.booking_id,
    amountCents: row.amount_cents,
    discountCents: row.discount_cents,
    currency: 'USD',
    discountCode: row.discount_code,
    subscriptionId: row.subscription_id,
    successUrl: row.success_url,
    cancelUrl: row.cancel_url,
    clientReferenceId: row.client_reference_id,
    metadata: row.metadata,
    expiresAt: row.expires_at.toISOString(),
    completedAt: row.completed_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    mode,
  };
}
