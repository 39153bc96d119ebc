import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable } from '../../../http/schema.ts';

const data = namedSchema(
  'WaitlistEventData',
  Type.Object({
    waitlistId: Type.String(),
    productId: Type.String(),
    cohortId: Nullable(Type.String()),
    position: Type.Integer({ minimum: 1 }),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this entry.' }),
  }),
);
const sample = {
  waitlistId: 'wl_01kafe3n4pfx2v9yq6m8d7t5zr',
  productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
  cohortId: null,
  position: 1,
  sequence: 1,
};

export const waitlistJoined = defineEvent({
  type: 'booking.waitlist.joined',
  description: 'Someone joined the waitlist.',
  data,
  sample,
});

export const waitlistOffered = defineEvent({
  type: 'booking.waitlist.offered',
  description: 'A spot was offered to a waitlisted person, who was emailed.',
  data,
  sample: { ...sample, sequence: 2 },
});

export const waitlistConverted = defineEvent({
  type: 'booking.waitlist.converted',
  description: 'A waitlisted person booked.',
  data,
  sample: { ...sample, sequence: 3 },
});

export const waitlistEvents: EventDefinition[] = [waitlistJoined, waitlistOffered, waitlistConverted];
