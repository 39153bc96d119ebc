import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';
import { Instant, Nullable, OneOf } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';

const members = {
  bookingId: Type.String(),
  productId: Type.String(),
  cohortId: Nullable(Type.String()),
  type: OneOf(VALUES.booking.type),
  status: OneOf(VALUES.booking.status),
  startsAt: Nullable(Instant),
  endsAt: Nullable(Instant),
  roomId: Nullable(Type.String()),
  sequence: Type.Integer({ minimum: 1, description: 'Counts the events about this booking.' }),
};
const data = named('BookingEventData', Type.Object(members));

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
  description: 'Somebody is about to book, and pays next; or has booked what costs nothing.',
  data,
  sample: { ...sample, status: 'PENDING_PAYMENT', sequence: 1 },
});

export const bookingConfirmed = defineEvent({
  type: 'booking.confirmed',
  description: 'A booking is paid, or cost nothing: it takes place.',
  data,
  sample,
  notice: {
    severity: 'INFO',
    words: ({ bookingId, startsAt }) => ({
      title: 'A new booking',
      body: startsAt === null ? 'Somebody has booked a cohort.' : `Somebody has booked ${startsAt}.`,
      resource: { type: 'BOOKING', id: bookingId },
    }),
  },
});

export const bookingRescheduled = defineEvent({
  type: 'booking.rescheduled',
  description: 'A booking takes place at another time.',
  data: named(
    'BookingMovedEventData',
    Type.Object({
      ...members,
      from: Type.String({ ...Instant, description: 'When it began before.' }),
      to: Type.String({ ...Instant, description: 'When it begins now.' }),
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
      title: 'A booking was moved',
      body: `It begins at ${to} now, not at ${from}.`,
      resource: { type: 'BOOKING', id: bookingId },
    }),
  },
});

export const bookingCanceled = defineEvent({
  type: 'booking.canceled',
  description: 'A booking does not take place. What was paid and is given back comes as `payment.refunded`.',
  data: named(
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
            title: 'A booking was canceled',
            body: startsAt === null ? 'Somebody has left a cohort.' : `It was to begin at ${startsAt}.`,
            resource: { type: 'BOOKING', id: bookingId },
          },
  },
});

export const bookingExpired = defineEvent({
  type: 'booking.expired',
  description: 'Nobody paid for a booking in time: its place is free.',
  data,
  sample: { ...sample, status: 'EXPIRED' },
});

export const bookingCompleted = defineEvent({
  type: 'booking.completed',
  description: 'A booking has taken place.',
  data,
  sample: { ...sample, status: 'COMPLETED', sequence: 3 },
});

export const bookingNoShow = defineEvent({
  type: 'booking.no_show',
  description: 'The customer did not come.',
  data,
  sample: { ...sample, status: 'NO_SHOW', sequence: 3 },
});

export const bookingReminder = defineEvent({
  type: 'booking.reminder',
  description: 'A booking begins soon, and its customer is reminded.',
  data: named(
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
      title: 'A booking begins soon',
      body: `It begins at ${startsAt}.`,
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

/** What others hear of bookings by. */
export interface BookingEvents {
  confirmed: typeof bookingConfirmed;
  rescheduled: typeof bookingRescheduled;
  canceled: typeof bookingCanceled;
  expired: typeof bookingExpired;
}
