import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';
import { Instant, Nullable } from '../../http/schema.ts';

const members = {
  cohortId: Type.String(),
  productId: Type.String(),
  enrolledCount: Type.Integer(),
  capacity: Nullable(Type.Integer()),
  sequence: Type.Integer({ minimum: 1, description: 'Counts the events about this cohort.' }),
};
const data = named('CohortEventData', Type.Object(members));
const sample = {
  cohortId: 'coh_01kafe3n4pfx2v9yq6m8d7t5zr',
  productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
  enrolledCount: 12,
  capacity: 12,
  sequence: 2,
};

export const cohortOpened = defineEvent({
  type: 'booking.cohort.opened',
  description: 'A cohort takes members: its enrolment has begun, or a place of a full one is free again.',
  data,
  sample: { ...sample, enrolledCount: 0, sequence: 1 },
});

export const cohortFull = defineEvent({
  type: 'booking.cohort.full',
  description: 'The last place of a cohort is taken.',
  data,
  sample,
  notice: {
    severity: 'INFO',
    words: ({ cohortId: id }) => ({
      title: 'A cohort is full',
      body: 'Its last place is taken.',
      resource: { type: 'COHORT', id },
    }),
  },
});

export const cohortStarted = defineEvent({
  type: 'booking.cohort.started',
  description: 'A cohort has begun.',
  data,
  sample: { ...sample, sequence: 3 },
});

export const cohortCompleted = defineEvent({
  type: 'booking.cohort.completed',
  description: 'A cohort has ended.',
  data,
  sample: { ...sample, sequence: 4 },
});

export const cohortCanceled = defineEvent({
  type: 'booking.cohort.canceled',
  description: 'A cohort will not take place: its bookings are canceled, and paid back.',
  data,
  sample: { ...sample, sequence: 3 },
});

export const cohortRescheduled = defineEvent({
  type: 'booking.cohort.rescheduled',
  description: 'The start or the sessions of a cohort were changed: its members are mailed the new times.',
  data: named(
    'CohortMovedEventData',
    Type.Object({ ...members, startsAt: Instant, endsAt: Nullable(Instant) }),
  ),
  sample: { ...sample, startsAt: '2027-01-12T17:00:00.000Z', endsAt: null, sequence: 3 },
});

export const cohortEvents: EventDefinition[] = [
  cohortOpened,
  cohortFull,
  cohortStarted,
  cohortCompleted,
  cohortCanceled,
  cohortRescheduled,
];
