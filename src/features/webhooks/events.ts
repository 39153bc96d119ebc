import Type from 'typebox';
import { defineEvent } from '../../events/catalogue.ts';
import { Instant } from '../../http/schema.ts';

export const webhookEvents = [
  defineEvent({
    type: 'webhook.test',
    description: 'Sent by POST /me/webhooks/{id}/test and by nothing else.',
    data: Type.Object({ webhookId: Type.String(), message: Type.String(), testedAt: Instant }),
    sample: {
      webhookId: 'wh_01kafe3n4pfx2v9yq6m8d7t5zr',
      message: 'This is a test event.',
      testedAt: '2026-11-20T09:00:00.000Z',
    },
  }),
];
