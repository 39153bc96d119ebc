import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const members = {
  bookingId: Type.String(),
  productId: Type.String(),
  cohortId: Nullable(Type.String()),
  type: OneOf(VALUES.booking.type),
  status: OneOf(VALUES.booking.status),
  startsAt: Nullable(Instant),
  endsAt: Nullable(Instant),
  roomId: Nullable(Type.String()),
  sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this booking.' }),
};
const data = namedSchema('BookingEventData', Type.Object(members));

const sample = {
  bookingId: 'bkg_01kafe3n4pfx2v9yq6m8d7t5zr',
  productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
  cohortId: null,
  type: 'ONE_TO_ONE',
  status: 'CONFIRMED',
  startsAt: '2026-11-20T09:00:00.000Z',
  endsAt: '2026-11-20T10:00:00.000Z',
  roomId: null,
  sequence: 2,
} as const;

export const bookingCreated = defineEvent({
  type: 'booking.created',
  description: 'A booking was created: payment is pending, or the booking is free.',
  data,
  sample: { ...sample, status: 'PENDING_PAYMENT', sequence: 1 },
});

export const bookingConfirmed = defineEvent({
  type: 'booking.confirmed',
  description: 'A booking was confirmed: it was paid, or it is free.',
  data,
  sample,
  notice: {
    severity: 'INFO',
    words: ({ bookingId, startsAt }) => ({
      title: 'New booking',
      body: startsAt === null ? 'A cohort was booked.' : `A booking was made for ${startsAt}.`,
      resource: { type: 'BOOKING', id: bookingId },
    }),
  },
});

export const bookingRescheduled = defineEvent({
  type: 'booking.rescheduled',
  description: 'A booking was rescheduled.',
  data: namedSchema(
    'BookingMovedEventData',
    Type.Object({
      ...members,
      from: Type.String({ ...Instant, description: 'Previous start time.' }),
      to: Type.String({ ...Instant, description: 'New start time.' }),
    }),
  ),
  sample: {
    ...sample,
    from: '2026-11-19T09:00:00.000Z',
    to: '2026-11-20T09:00:00.000Z',
    sequence: 3,
  },
  notice: {
    severity: 'INFO',
    words: ({ bookingId, from, to }) => ({
      title: 'Booking rescheduled',
      body: `It now starts at ${to} instead of ${from}.`,
      resource: { type: 'BOOKING', id: bookingId },
    }),
  },
});

export const bookingCanceled = defineEvent({
  type: 'booking.canceled',
  description: 'A booking was canceled. A refund is sent as `payment.refunded`.',
  data: namedSchema(
    'BookingCanceledEventData',
    Type.Object({ ...members, canceledBy: OneOf(VALUES.booking.canceled_by) }),
  ),
  sample: { ...sample, status: 'CANCELED', canceledBy: 'CUSTOMER', sequence: 3 },
  notice: {
    severity: 'INFO',
    words: ({ bookingId, startsAt, canceledBy }) =>
      canceledBy === 'CREATOR'
        ? null
        : {
            title: 'Booking canceled',
            body: startsAt === null ? 'A member left a cohort.' : `It was scheduled for ${startsAt}.`,
            resource: { type: 'BOOKING', id: bookingId },
          },
  },
});

export const bookingExpired = defineEvent({
  type: 'booking.expired',
  description: 'A booking expired because it was not paid in time. Its spot is available again.',
  data,
  sample: { ...sample, status: 'EXPIRED' },
});

export const bookingCompleted = defineEvent({
  type: 'booking.completed',
  description: 'A booking was completed.',
  data,
  sample: { ...sample, status: 'COMPLETED', sequence: 3 },
});

export const bookingNoShow = defineEvent({
  type: 'booking.no_show',
  description: 'The customer did not attend.',
  data,
  sample: { ...sample, status: 'NO_SHOW', sequence: 3 },
});

export const bookingReminder = defineEvent({
  type: 'booking.reminder',
  description: 'A booking starts soon; its customer gets a reminder.',
  data: namedSchema(
    'BookingReminderEventData',
    Type.Object({
      bookingId: Type.String(),
      startsAt: Instant,
      minutesBefore: Type.Integer(),
      sequence: members.sequence,
    }),
  ),
  sample: {
    bookingId: sample.bookingId,
    startsAt: sample.startsAt,
    minutesBefore: 60,
    sequence: 3,
  },
  notice: {
    severity: 'INFO',
    words: ({ bookingId: id, startsAt }) => ({
      title: 'Booking starts soon',
      body: `It starts at ${startsAt}.`,
      resource: { type: 'BOOKING', id },
    }),
  },
});

export const bookingEvents: EventDefinition[] = [
  bookingCreated,
  bookingConfirmed,
  bookingRescheduled,
  bookingCanceled,
  bookingExpired,
  bookingCompleted,
  bookingNoShow,
  bookingReminder,
];

/** Events that bookings emit. */
export interface BookingEvents {
  confirmed: typeof bookingConfirmed;
  rescheduled: typeof bookingRescheduled;
  canceled: typeof bookingCanceled;
  expired: typeof bookingExpired;
}
