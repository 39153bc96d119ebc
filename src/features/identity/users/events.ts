import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';

const data = namedSchema(
  'FollowerEventData',
  Type.Object({
    userId: Type.String({ description: 'Account ID of the follower.' }),
    username: Type.String(),
    sequence: Type.Integer({
      minimum: 1,
      description: 'Increases with each event about followers of the channel.',
    }),
  }),
);
const sample = { userId: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr', username: 'grace', sequence: 1 };

export const followerAdded = defineEvent({
  type: 'follower.added',
  description: 'Someone followed the channel.',
  data,
  sample,
});

export const followerRemoved = defineEvent({
  type: 'follower.removed',
  description: 'Someone unfollowed the channel.',
  data,
  sample: { ...sample, sequence: 2 },
});

export const followerEvents: EventDefinition[] = [followerAdded, followerRemoved];
