import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, NullableObject, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { BookingLinks } from './links.ts';
import type { BookingDetails } from './repository.ts';

const { booking } = VALUES;
const Cents = Nullable(Type.Integer({ description: 'Null without `finance:read`.' }));

export const Booking = namedSchema(
  'Booking',
  Type.Object({
    id: IdOf('bkg'),
    productId: Type.String(),
    cohortId: Nullable(Type.String()),
    type: OneOf(booking.type),
    status: OneOf(booking.status),
    startsAt: Nullable(Type.String({ ...Instant, description: 'Null for a COHORT, which has sessions.' })),
    endsAt: Nullable(Instant),
    timezone: Type.String({ description: 'Time zone of the creator when the booking was created.' }),
    customer: Type.Object({
      id: Nullable(Type.String()),
      name: Type.String(),
      email: Type.String(),
      timezone: Nullable(Type.String()),
    }),
    intakeAnswers: NullableObject(Type.Record(Type.String(), Type.Unknown())),
    amountCents: Cents,
    discountCents: Cents,
    currency: OneOf(['USD'] as const),
    discountCode: Nullable(Type.String()),
    purchaseId: Nullable(Type.String()),
    roomId: Nullable(Type.String({ description: 'Created 15 minutes before the start.' })),
    joinUrl: Nullable(
      Type.String({ description: "The customer's personal link to the room. Do not share it." }),
    ),
    hostUrl: Nullable(
      Type.String({ description: 'Your link to the room as host; null without `booking:write`.' }),
    ),
    recordingVideoId: Nullable(Type.String({ description: 'Video of the latest recording.' })),
    recordingVideoIds: Type.Array(Type.String()),
    replayAccessUntil: Nullable(Instant),
    rescheduledFrom: Nullable(Instant),
    cancelReason: Nullable(Type.String()),
    canceledBy: Nullable(OneOf(booking.canceled_by)),
    refundedCents: Cents,
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'bkg_01kafe3n4pfx2v9yq6m8d7t5zr',
    productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
    cohortId: null,
    type: 'ONE_TO_ONE',
    status: 'CONFIRMED',
    startsAt: '2026-11-20T09:00:00.000Z',
    endsAt: '2026-11-20T10:00:00.000Z',
    timezone: 'Europe/Berlin',
    customer: { id: null, name: 'Ada Lovelace', email: 'ada@example.com', timezone: 'Europe/London' },
    intakeAnswers: null,
    amountCents: 5000,
    discountCents: 0,
    currency: 'USD',
    discountCode: null,
    purchaseId: 'pur_01kafe3n4pfx2v9yq6m8d7t5zr',
    roomId: null,
    joinUrl: null,
    hostUrl: null,
    recordingVideoId: null,
    recordingVideoIds: [],
    replayAccessUntil: null,
    rescheduledFrom: null,
    cancelReason: null,
    canceledBy: null,
    refundedCents: 0,
    createdAt: '2026-11-19T09:00:00.000Z',
    updatedAt: '2026-11-19T09:00:00.000Z',
    mode: 'live',
  },
);

export const CancelIn = namedSchema(
  'BookingCancel',
  Type.Object({
    reason: Type.Optional(
      Nullable(Type.String({ maxLength: 500, description: 'Reason, sent to the customer.' })),
    ),
    refund: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether to refund the payment in full.' }),
    ),
  }),
  { reason: 'I am ill.' },
);

export const RescheduleIn = namedSchema('BookingReschedule', Type.Object({ startsAt: Instant }), {
  startsAt: '2026-11-21T09:00:00.000Z',
});

export const SIMULATIONS = [
  'CUSTOMER_JOINED',
  'CREATOR_JOINED',
  'CUSTOMER_CANCELED',
  'CUSTOMER_RESCHEDULED',
  'ENDED',
] as const;
export const SimulationIn = namedSchema(
  'BookingSimulation',
  Type.Object({
    event: OneOf(SIMULATIONS),
    startsAt: Type.Optional(Type.String({ ...Instant, description: 'Of CUSTOMER_RESCHEDULED.' })),
  }),
  { event: 'CUSTOMER_JOINED' },
);

interface Seen {
  mode: Mode;
  links: Pick<BookingLinks, 'joinUrl' | 'hostUrl'>;
  /** Whether the caller has finance:read. */
  seesMoney: boolean;
  /** Whether the caller has booking:write. */
  isHost: boolean;
}

const text = (date: Date | null) => date?.toISOString() ?? null;

export function toBooking(
  row: BookingDetails,
  { mode, links, seesMoney, isHost }: Seen,
): Static<typeof Booking> {
  const takesPlace = row.status === 'CONFIRMED';
  const cents = (amount: number) => (seesMoney ? amount : null);
  return {
    id: row.id,
    productId: row.product_id,
    cohortId: row.cohort_id,
    type: row.type,
    status: row.status,
    startsAt: text(row.starts_at),
    endsAt: text(row.ends_at),
    timezone: row.timezone,
    customer: {
      id: row.customer_id,
      name: row.customer_name,
      email: row.customer_email,
      timezone: row.customer_timezone,
    },
    intakeAnswers: row.intake_answers,
    amountCents: cents(row.amount_cents),
    discountCents: cents(row.discount_cents),
    currency: 'USD',
    discountCode: row.discount_code,
    purchaseId: row.purchase_id,
    roomId: row.room_id,
    joinUrl: takesPlace ? links.joinUrl(row) : null,
    hostUrl: takesPlace && isHost ? links.hostUrl(row) : null,
    recordingVideoId: row.recording_video_id,
    recordingVideoIds: row.recording_video_ids,
    replayAccessUntil: text(row.replay_access_until),
    rescheduledFrom: text(row.rescheduled_from),
    cancelReason: row.cancel_reason,
    canceledBy: row.canceled_by,
    refundedCents: cents(row.refunded_cents),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    mode,
  };
}
