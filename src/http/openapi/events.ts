import { type Json, pascal, refTo } from './json.ts';
import type { Schemas } from './schemas.ts';

/** An event type as the document describes it. */
export interface DocumentedEvent {
  type: string;
  description: string;
  data: object;
  sample: object;
}

const CREATED = 1_795_165_200;
const EVENT_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

/** The component of a type: `stream.broadcast_started` is `StreamBroadcastStartedEvent`. */
const nameOf = ({ type }: DocumentedEvent) => `${pascal(type)}Event`;

/** The body that a webhook gets. */
function bodyOf(event: DocumentedEvent): object {
  return {
    type: 'object',
    description: event.description,
    required: ['id', 'type', 'created', 'livemode', 'data'],
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Identical for every attempt.' },
      type: { type: 'string', const: event.type },
      created: { type: 'integer', description: 'Unix seconds.' },
      livemode: { type: 'boolean', description: "The platform's environment, not the key's mode." },
      data: event.data,
    },
  };
}

/** Headers of a delivery. */
export const EVENT_PARAMETERS: Record<string, Json> = {
  EventId: header('SVC-Event-Id', '`id` of the event in the body.', EVENT_ID),
  EventType: header('SVC-Event-Type', '`type` of the event in the body.', 'stream.live'),
  EventSignature: header(
    'SVC-Signature',
    '`t=<Unix seconds>,v1=<hexadecimal HMAC-SHA256 of "<t>.<body>" under the signing secret>`. Verify it before processing the body.',
    `t=${CREATED},v1=4403f56225f28dc0f9ebc00aa9b1f5368df40631e74e2c12cf44472895227a52`,
  ),
};

function header(name: string, description: string, example: string): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string', examples: [example] } };
}

/** The `webhooks` section: one for each type, and the union of them that one address receives. */
export function webhooksOf(events: readonly DocumentedEvent[], schemas: Schemas): Record<string, Json> {
  const named = events.map((event) => ({ event, schema: schemas.add(nameOf(event), bodyOf(event)) }));
  if (named.length > 0)
    schemas.add('AnyEvent', {
      description: 'Any event; `type` identifies it.',
      oneOf: named.map(({ schema }) => schema),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(named.map(({ event, schema }) => [event.type, schema.$ref])),
      },
    });
  return Object.fromEntries(named.map(({ event, schema }) => [event.type, webhook(event, schema)]));
}

function webhook(event: DocumentedEvent, schema: Json): Json {
  const { type, description, sample } = event;
  const value = { id: EVENT_ID, type, created: CREATED, livemode: true, data: sample };
  return {
    post: {
      operationId: `on.${type}`,
      tags: ['webhooks'],
      summary: type,
      description,
      security: [],
      parameters: Object.keys(EVENT_PARAMETERS).map((name) => refTo('parameters', name)),
      requestBody: {
        required: true,
        content: { 'application/json': { schema, examples: { sample: { value } } } },
      },
      responses: { '2XX': { description: 'Success: the delivery is not retried.' } },
    },
  };
}
