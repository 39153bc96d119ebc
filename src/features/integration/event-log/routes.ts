import Type, { type Static } from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import type { EventStreamHandler, EventWriter, StreamEvent } from '../../../http/event-stream.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { AnyObject, CommaTexts } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import type { EventLog, TailItem } from './service.ts';

/**
 * Equals sixteen full keys: measured not to slow down other accounts
 * (docs/decisions/event-streams.md#connection-limits).
 */
const MAX_TAILS_PER_ACCOUNT = 400;

const EventId = Type.Object({
  eventId: Type.String({
    description: 'Event ID.',
    examples: ['7c9e6679-7425-40de-944b-e07fc1f90ae7'],
  }),
});
const types = CommaTexts('Event types or `prefix.*` patterns; omit for all types.');

/** An event as a webhook receives it (docs/concepts/webhooks.md#the-request). */
export const EventOut = namedSchema(
  'Event',
  Type.Object({
    id: Type.String(),
    type: Type.String(),
    created: Type.Integer({ description: 'Unix seconds.' }),
    livemode: Type.Boolean({ description: "The platform's environment, not the key's mode." }),
    data: AnyObject,
  }),
  {
    id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    type: 'stream.ended',
    created: 1_795_165_200,
    livemode: true,
    data: {
      streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
      endedAt: '2026-11-20T09:00:00.000Z',
      durationSec: null,
    },
  },
);

const TriggerIn = namedSchema(
  'EventTrigger',
  Type.Object({ type: Type.String(), payload: Type.Optional(AnyObject) }),
  { type: 'stream.live', payload: { streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr' } },
);

interface Deps {
  eventLog: EventLog;
  cursors: CursorCodec;
}

/** `/me/events`: the workspace's own events (docs/concepts/webhooks.md#event-log). */
export function eventLogRoutes({ eventLog, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresRead('events:read'),
      operationId: 'events.list',
      method: 'GET',
      path: '/me/events',
      summary: 'List events',
      description:
        'Lists events in the mode of the key, as webhooks receive them. Events are retained for 30 days, whether or not a webhook received them.',
      query: listQuery({ type: types }),
      reply: { status: 200, schema: EventOut, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `events:${caller.workspaceId}`, query);
        const rows = await eventLog.list(caller.workspaceId, eventLog.parseTypes(query.type), list.request);
        return list.page(
          rows.map(({ place, body }) => ({ id: place, body })),
          ({ body }) => parseBody(body),
        );
      },
    }),
    ...tailRoutes(eventLog),
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'events.trigger',
      method: 'POST',
      path: '/me/events/trigger',
      summary: 'Trigger a sample event',
      description:
        'For local development (`marquee webhook trigger`). The event is not stored or delivered to webhooks. `payload` is merged into the sample data.',
      body: TriggerIn,
      reply: { status: 202, schema: EventOut },
      errors: ['UNKNOWN_EVENT'],
      async handler({ caller }, { body }) {
        return parseBody(eventLog.trigger(caller.workspaceId, body.type, body.payload).body);
      },
    }),
    defineRoute({
      ...requiresRead('events:read'),
      operationId: 'events.get',
      method: 'GET',
      path: '/me/events/{eventId}',
      summary: 'Get an event',
      description: 'Returns the same body that webhooks receive.',
      params: EventId,
      reply: { status: 200, schema: EventOut },
      handler: async ({ caller }, { params }) =>
        parseBody((await eventLog.get(caller.workspaceId, params.eventId)).body),
    }),
  ];
}

/** The second is the name that the tail had first. */
function tailRoutes(eventLog: EventLog): Route[] {
  const paths = [
    { operationId: 'events.tail', path: '/me/events/tail' },
    { operationId: 'events.stream', path: '/me/events/stream' },
  ];
  return paths.map((named) =>
    defineRoute({
      ...requiresRead('events:read'),
      ...named,
      method: 'GET',
      summary: 'Stream events (SSE)',
      description:
        "Server-sent events: `ready`, then `event` with the exact body that webhooks receive, `resync` if Last-Event-ID is unknown or expired, and `bye` before the server closes the stream. Counts toward the key's event streams; an account can have 400 of these open. `/me/events/tail` and `/me/events/stream` are equivalent.",
      query: Type.Object({
        type: types,
        lastEventId: Type.Optional(
          Type.String({ description: 'Alternative for clients that cannot set the header.' }),
        ),
      }),
      reply: { status: 200, schema: EventOut, envelope: 'events', perAccount: MAX_TAILS_PER_ACCOUNT },
      async handler({ caller }, { query }) {
        return eventTail(eventLog, caller.workspaceId, eventLog.parseTypes(query.type));
      },
    }),
  );
}

function eventTail(eventLog: EventLog, workspaceId: string, patterns: string[]): EventStreamHandler {
  return async (out) => {
    const { lastEventId: after, signal } = out;
    for await (const item of eventLog.tail(workspaceId, { patterns, after, signal })) {
      await out.send(toStreamEvent(item, out));
    }
  };
}

function toStreamEvent(item: TailItem, { lastEventId, lifetimeSec, serverTime }: EventWriter): StreamEvent {
  switch (item.kind) {
    case 'ready': {
      const hello = { tail: 'events', serverTime, resumed: lastEventId !== null, lifetimeSec };
      return { event: 'ready', data: JSON.stringify(hello) };
    }
    case 'resync':
      return { event: 'resync', data: JSON.stringify({ reason: item.reason, droppedAtLeast: null }) };
    case 'event':
      return { event: 'event', id: item.id, data: item.body };
  }
}

/** The stored text is what `append` wrote. */
function parseBody(body: string): Static<typeof EventOut> {
  return JSON.parse(body);
}
