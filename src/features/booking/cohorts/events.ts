import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable } from '../../../http/schema.ts';

const members = {
  cohortId: Type.String(),
  productId: Type.String(),
  enrolledCount: Type.Integer(),
  capacity: Nullable(Type.Integer()),
  sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this cohort.' }),
};
const data = namedSchema('CohortEventData', Type.Object(members));
const sample = {
  cohortId: 'coh_01kafe3n4pfx2v9yq6m8d7t5zr',
  productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
  enrolledCount: 12,
  capacity: 12,
  sequence: 2,
};

export const cohortOpened = defineEvent({
  type: 'booking.cohort.opened',
  description: 'A cohort is open for enrollment: enrollment started, or a spot became available.',
  data,
  sample: { ...sample, enrolledCount: 0, sequence: 1 },
});

export const cohortFull = defineEvent({
  type: 'booking.cohort.full',
  description: 'A cohort is full.',
  data,
  sample,
  notice: {
    severity: 'INFO',
    words: ({ cohortId: id }) => ({
      title: 'Cohort full',
      body: 'Its last spot has been booked.',
      resource: { type: 'COHORT', id },
    }),
  },
});

export const cohortStarted = defineEvent({
  type: 'booking.cohort.started',
  description: 'A cohort started.',
  data,
  sample: { ...sample, sequence: 3 },
});

export const cohortCompleted = defineEvent({
  type: 'booking.cohort.completed',
  description: 'A cohort was completed.',
  data,
  sample: { ...sample, sequence: 4 },
});

export const cohortCanceled = defineEvent({
  type: 'booking.cohort.canceled',
  description: 'A cohort was canceled: its bookings are canceled and refunded.',
  data,
  sample: { ...sample, sequence: 3 },
});

export const cohortRescheduled = defineEvent({
  type: 'booking.cohort.rescheduled',
  description: 'The start or sessions of a cohort changed; members are emailed the new times.',
  data: namedSchema(
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
