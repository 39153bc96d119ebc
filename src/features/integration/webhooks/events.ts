import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { Instant } from '../../../http/schema.ts';

const webhookId = Type.String();
const sequence = Type.Integer({ minimum: 1, description: 'Increases with each event about this webhook.' });
const SAMPLE_ID = 'wh_01kafe3n4pfx2v9yq6m8d7t5zr';

/** Sent to the webhook that was asked for, whatever it subscribes to, and to no other. */
export const webhookTest = defineEvent({
  type: 'webhook.test',
  description: 'Sent only by POST /me/webhooks/{id}/test.',
  data: Type.Object({ webhookId, message: Type.String(), testedAt: Instant, sequence }),
  sample: {
    webhookId: SAMPLE_ID,
    message: 'This is a test event.',
    testedAt: '2026-11-20T09:00:00.000Z',
    sequence: 1,
  },
});

/** Never sent to the webhook that is its subject. */
export const webhookFailing = defineEvent({
  type: 'webhook.failing',
  description:
    'Another webhook had 20 consecutive failures over a day or more. Sent once until it succeeds again; never sent to that webhook.',
  data: Type.Object({ webhookId, url: Type.String(), consecutiveFailures: Type.Integer(), sequence }),
  sample: {
    webhookId: SAMPLE_ID,
    url: 'https://partner.example.com/webhooks',
    consecutiveFailures: 20,
    sequence: 2,
  },
  notice: {
    severity: 'CRITICAL',
    words: ({ url, consecutiveFailures, webhookId: id }) => ({
      title: 'Webhook keeps failing',
      body: `${withoutQuery(url)} has not accepted a delivery for a day or more: ${consecutiveFailures} consecutive failures. See its delivery log; events of the last 30 days can be resent once it responds.`,
      resource: { type: 'WEBHOOK', id },
    }),
  },
});

/** Never sent to the webhook that is its subject. */
export const webhookSecretRotated = defineEvent({
  type: 'webhook.secret_rotated',
  description: 'Another webhook has a new signing secret. Never sent to that webhook.',
  data: Type.Object({ webhookId, rotatedAt: Instant, sequence }),
  sample: { webhookId: SAMPLE_ID, rotatedAt: '2026-11-20T09:00:00.000Z', sequence: 3 },
});

export const webhookEvents: EventDefinition[] = [webhookTest, webhookFailing, webhookSecretRotated];

/** A query often holds a token of the receiver: not for a mail. */
function withoutQuery(text: string): string {
  const url = URL.parse(text);
  return url === null ? 'The receiver' : url.origin + url.pathname;
}
