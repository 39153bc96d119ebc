import Type from 'typebox';
import { anyKey, requiresRead, requiresWrite } from '../../../http/access.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { ListReader, listQuery, unpagedListQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Deleted, IdParams, PathId } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import {
  deliveryFilters,
  PendingDelivery,
  parseDeliveryFilter,
  Recovered,
  RecoverIn,
  SimulateIn,
  Simulation,
  SingleAttempt,
  toDelivery,
  toPending,
  toWebhook,
  Webhook,
  WebhookDelivery,
  WebhookIn,
  WebhookPatch,
  WebhookWithSecret,
} from './schemas.ts';
import type { Webhooks } from './service.ts';

const Id = IdParams('wh', 'webhook');

/** All of them in one page: plans allow fewer. */
const ListQuery = unpagedListQuery({});
const EventTypes = namedSchema(
  'EventTypes',
  Type.Array(Type.String({ description: 'Event type from the catalog.' })),
  ['stream.live', 'stream.ended', 'video.processing.completed'],
);
const MAX_DELIVERIES = 200;

interface Deps {
  webhooks: Webhooks;
  cursors: CursorCodec;
}

/** `/me/webhooks` (docs/concepts/webhooks.md). */
export function webhookRoutes(deps: Deps): Route[] {
  return [...registrationRoutes(deps), ...attemptRoutes(deps)];
}

function registrationRoutes({ webhooks, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'webhooks.create',
      method: 'POST',
      path: '/me/webhooks',
      summary: 'Create a webhook',
      description: 'The signing secret is returned only in this response.',
      body: WebhookIn,
      reply: { status: 201, schema: WebhookWithSecret },
      errors: ['QUOTA_EXCEEDED'],
      async handler({ caller }, { body }) {
        const { row, signingSecret } = await webhooks.create(caller, body);
        return { ...toWebhook(row, caller.mode), signingSecret };
      },
    }),
    defineRoute({
      ...requiresRead('webhooks:read'),
      operationId: 'webhooks.list',
      method: 'GET',
      path: '/me/webhooks',
      summary: 'List webhooks',
      description:
        'Lists webhooks in the mode of the key, with delivery statistics. Signing secrets are not included.',
      query: ListQuery,
      reply: { status: 200, schema: Webhook, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `webhooks:${caller.workspaceId}`, query);
        const rows = await webhooks.list(caller.workspaceId, list.request);
        return list.page(rows, (row) => toWebhook(row, caller.mode));
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'webhooks.events',
      method: 'GET',
      path: '/me/webhooks/events',
      summary: 'List event types',
      description: 'Lists every event type a webhook can subscribe to.',
      reply: { status: 200, schema: EventTypes },
      handler: async () => webhooks.eventTypes(),
    }),
    defineRoute({
      ...requiresRead('webhooks:read'),
      operationId: 'webhooks.get',
      method: 'GET',
      path: '/me/webhooks/{id}',
      summary: 'Get a webhook',
      description:
        "Includes delivery and failure counts, consecutive failures, and the receiver's last response. The signing secret is not included.",
      params: Id,
      reply: { status: 200, schema: Webhook },
      handler: async ({ caller }, { params }) =>
        toWebhook(await webhooks.get(caller.workspaceId, params.id), caller.mode),
    }),
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'webhooks.update',
      method: 'PATCH',
      path: '/me/webhooks/{id}',
      summary: 'Update a webhook',
      description:
        'Does not change the secret. Disabling the webhook cancels its pending deliveries; use `recover` to send them later.',
      params: Id,
      body: WebhookPatch,
      reply: { status: 200, schema: Webhook },
      handler: async ({ caller }, { params, body }) =>
        toWebhook(await webhooks.update(caller.workspaceId, params.id, body), caller.mode),
    }),
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'webhooks.rotateSecret',
      method: 'POST',
      path: '/me/webhooks/{id}/rotate-secret',
      summary: 'Rotate the signing secret',
      description:
        'The new secret is returned only in this response. The old secret stops working immediately.',
      params: Id,
      reply: { status: 200, schema: WebhookWithSecret },
      async handler({ caller }, { params }) {
        const { row, signingSecret } = await webhooks.rotateSecret(caller.workspaceId, params.id);
        return { ...toWebhook(row, caller.mode), signingSecret };
      },
    }),
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'webhooks.delete',
      method: 'DELETE',
      path: '/me/webhooks/{id}',
      summary: 'Delete a webhook',
      description: 'Also deletes its pending deliveries and delivery log.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await webhooks.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
    defineRoute({
      ...requiresRead('webhooks:read'),
      operationId: 'webhooks.deliveries',
      method: 'GET',
      path: '/me/webhooks/{id}/deliveries',
      summary: 'List delivery attempts',
      description:
        'Each entry is one attempt, with its status, response and latency. Deliveries that are still waiting are listed under `pending`.',
      params: Id,
      query: listQuery(deliveryFilters, MAX_DELIVERIES),
      reply: { status: 200, schema: WebhookDelivery, list: true },
      async handler({ caller }, { params, query }) {
        const list = new ListReader(cursors, `deliveries:${caller.workspaceId}:${params.id}`, query);
        const filter = parseDeliveryFilter(query);
        const rows = await webhooks.deliveries(caller.workspaceId, params.id, filter, list.request);
        return list.page(rows, toDelivery);
      },
    }),
    defineRoute({
      ...requiresRead('webhooks:read'),
      operationId: 'webhooks.pending',
      method: 'GET',
      path: '/me/webhooks/{id}/pending',
      summary: 'List pending deliveries',
      description:
        'Lists deliveries with an attempt still to come. Completed attempts are in the delivery log.',
      params: Id,
      query: listQuery({}, MAX_DELIVERIES),
      reply: { status: 200, schema: PendingDelivery, list: true },
      async handler({ caller }, { params, query }) {
        const list = new ListReader(cursors, `pending:${caller.workspaceId}:${params.id}`, query);
        return list.page(await webhooks.pending(caller.workspaceId, params.id, list.request), toPending);
      },
    }),
  ];
}

const WebhookDeliveryId = Type.Object({ ...Id.properties, deliveryId: PathId('dlv', 'delivery') });

/** Defines the routes that send, or only render, an event on demand. */
function attemptRoutes({ webhooks }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'webhooks.test',
      method: 'POST',
      path: '/me/webhooks/{id}/test',
      summary: 'Send a test event',
      description: 'Makes one attempt, regardless of `events` and `isActive`.',
      params: Id,
      reply: { status: 200, schema: SingleAttempt },
      handler: ({ caller }, { params }) => webhooks.test(caller.workspaceId, params.id),
    }),
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'webhooks.simulate',
      method: 'POST',
      path: '/me/webhooks/{id}/simulate',
      summary: 'Preview a signed delivery',
      description:
        'Returns the exact signed request a receiver would get, and whether this webhook would receive it.',
      params: Id,
      body: SimulateIn,
      reply: { status: 200, schema: Simulation },
      errors: ['UNKNOWN_EVENT'],
      handler: ({ caller }, { params, body }) =>
        webhooks.simulate(caller.workspaceId, params.id, body.event, body.payload),
    }),
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'webhooks.replay',
      method: 'POST',
      path: '/me/webhooks/{id}/deliveries/{deliveryId}/replay',
      summary: 'Replay a delivery',
      description:
        'Makes one attempt with the same event ID and body, a new signature, and the current URL and secret. Returns 404 for events older than 30 days.',
      params: WebhookDeliveryId,
      reply: { status: 200, schema: SingleAttempt },
      handler: ({ caller }, { params }) => webhooks.replay(caller.workspaceId, params.id, params.deliveryId),
    }),
    defineRoute({
      ...requiresWrite('webhooks:write'),
      operationId: 'webhooks.recover',
      method: 'POST',
      path: '/me/webhooks/{id}/recover',
      summary: 'Recover missed deliveries',
      description:
        'Schedules every retained event in the time range that matches and was not successfully delivered to this webhook, including events from before it was created or while it was disabled.',
      params: Id,
      body: RecoverIn,
      reply: { status: 202, schema: Recovered },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) => ({
        queued: await webhooks.recover(caller.workspaceId, params.id, body),
      }),
    }),
  ];
}
