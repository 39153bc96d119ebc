import Type from 'typebox';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, NoBody, NoParams, NoQuery, type Route } from '../../http/route.ts';
import { Deleted } from '../../http/schema.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import {
  deliveryFilters,
  parseDeliveryFilter,
  Recovered,
  RecoverIn,
  SimulateIn,
  Simulation,
  SingleAttempt,
  toDelivery,
  toWebhook,
  Webhook,
  WebhookDelivery,
  WebhookIn,
  WebhookPatch,
  WebhookWithSecret,
} from './schemas.ts';
import type { Webhooks } from './service.ts';

const Id = Type.Object({ id: Type.String() });
const write = {
  auth: 'key',
  permission: 'webhooks:write',
  gate: null,
  idempotent: false,
  originLock: false,
} as const;
// The permission catalogue has no webhooks:read (`api.md` C2): any key may look.
const read = { ...write, permission: null } as const;

/** All of them in one page: plans allow fewer. */
const ListQuery = Type.Object({
  ...listQuery({}).properties,
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 100 }),
});
const MAX_DELIVERIES = 200;

interface Deps {
  webhooks: Webhooks;
  cursors: CursorCodec;
}

/** `/me/webhooks` (contract 4.7; `api.md` C8). */
export function webhookRoutes(deps: Deps): Route[] {
  return [...registrationRoutes(deps), ...attemptRoutes(deps)];
}

function registrationRoutes({ webhooks, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...write,
      operationId: 'webhooks.create',
      method: 'POST',
      path: '/me/webhooks',
      summary: 'Register a webhook',
      description: 'The signing secret is in this answer and in no other.',
      params: NoParams,
      query: NoQuery,
      body: WebhookIn,
      reply: { status: 201, schema: WebhookWithSecret },
      errors: ['QUOTA_EXCEEDED'],
      async handler({ caller }, { body }) {
        const { row, signingSecret } = await webhooks.create(caller, body);
        return { ...toWebhook(row, caller.mode), signingSecret };
      },
    }),
    defineRoute({
      ...read,
      operationId: 'webhooks.list',
      method: 'GET',
      path: '/me/webhooks',
      summary: 'List webhooks',
      params: NoParams,
      query: ListQuery,
      body: NoBody,
      reply: { status: 200, schema: Webhook, list: true },
      errors: [],
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `webhooks:${caller.workspaceId}`, query);
        const rows = await webhooks.list(caller.workspaceId, list.request);
        return list.page(rows, (row) => toWebhook(row, caller.mode));
      },
    }),
    defineRoute({
      ...read,
      operationId: 'webhooks.events',
      method: 'GET',
      path: '/me/webhooks/events',
      summary: 'List the event types',
      params: NoParams,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: Type.Array(Type.String()) },
      errors: [],
      handler: async () => webhooks.eventTypes(),
    }),
    defineRoute({
      ...read,
      operationId: 'webhooks.get',
      method: 'GET',
      path: '/me/webhooks/{id}',
      summary: 'Get a webhook with its statistics',
      params: Id,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: Webhook },
      errors: ['NOT_FOUND'],
      handler: async ({ caller }, { params }) =>
        toWebhook(await webhooks.get(caller.workspaceId, params.id), caller.mode),
    }),
    defineRoute({
      ...write,
      operationId: 'webhooks.update',
      method: 'PATCH',
      path: '/me/webhooks/{id}',
      summary: 'Change a webhook',
      description:
        'The secret is not changed here. Switching the webhook off cancels its pending deliveries; ' +
        '`recover` brings them back.',
      params: Id,
      query: NoQuery,
      body: WebhookPatch,
      reply: { status: 200, schema: Webhook },
      errors: ['NOT_FOUND'],
      handler: async ({ caller }, { params, body }) =>
        toWebhook(await webhooks.update(caller.workspaceId, params.id, body), caller.mode),
    }),
    defineRoute({
      ...write,
      operationId: 'webhooks.rotateSecret',
      method: 'POST',
      path: '/me/webhooks/{id}/rotate-secret',
      summary: 'Replace the signing secret',
      description: 'The new secret is in this answer and in no other. The old one is invalid at once.',
      params: Id,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: WebhookWithSecret },
      errors: ['NOT_FOUND'],
      async handler({ caller }, { params }) {
        const { row, signingSecret } = await webhooks.rotateSecret(caller.workspaceId, params.id);
        return { ...toWebhook(row, caller.mode), signingSecret };
      },
    }),
    defineRoute({
      ...write,
      operationId: 'webhooks.delete',
      method: 'DELETE',
      path: '/me/webhooks/{id}',
      summary: 'Delete a webhook',
      description: 'Its pending deliveries and its delivery log go with it.',
      params: Id,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: Deleted },
      errors: ['NOT_FOUND'],
      async handler({ caller }, { params }) {
        await webhooks.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
    defineRoute({
      ...read,
      operationId: 'webhooks.deliveries',
      method: 'GET',
      path: '/me/webhooks/{id}/deliveries',
      summary: 'List the delivery attempts of the last 30 days',
      params: Id,
      query: listQuery(deliveryFilters, MAX_DELIVERIES),
      body: NoBody,
      reply: { status: 200, schema: WebhookDelivery, list: true },
      errors: ['NOT_FOUND'],
      async handler({ caller }, { params, query }) {
        const list = new ListReader(cursors, `deliveries:${caller.workspaceId}:${params.id}`, query);
        const filter = parseDeliveryFilter(query);
        const rows = await webhooks.deliveries(caller.workspaceId, params.id, filter, list.request);
        return list.page(rows, toDelivery);
      },
    }),
  ];
}

const WebhookDeliveryId = Type.Object({ id: Type.String(), deliveryId: Type.String() });

/** What is sent, or only rendered, because somebody asked for it. */
function attemptRoutes({ webhooks }: Deps): Route[] {
  return [
    defineRoute({
      ...write,
      operationId: 'webhooks.test',
      method: 'POST',
      path: '/me/webhooks/{id}/test',
      summary: 'Send a webhook.test event and wait for the answer',
      description: 'One attempt, sent whatever `events` and `isActive` say.',
      params: Id,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: SingleAttempt },
      errors: ['NOT_FOUND'],
      handler: ({ caller }, { params }) => webhooks.test(caller.workspaceId, params.id),
    }),
    defineRoute({
      ...write,
      operationId: 'webhooks.simulate',
      method: 'POST',
      path: '/me/webhooks/{id}/simulate',
      summary: 'Render and sign a delivery without sending it',
      params: Id,
      query: NoQuery,
      body: SimulateIn,
      reply: { status: 200, schema: Simulation },
      errors: ['NOT_FOUND', 'UNKNOWN_EVENT'],
      handler: ({ caller }, { params, body }) =>
        webhooks.simulate(caller.workspaceId, params.id, body.event, body.payload),
    }),
    defineRoute({
      ...write,
      operationId: 'webhooks.replay',
      method: 'POST',
      path: '/me/webhooks/{id}/deliveries/{deliveryId}/replay',
      summary: 'Send the event of a past delivery once more and wait for the answer',
      description:
        'One attempt with the same event id and body, a fresh signature, and the current url and secret. ' +
        '404 also when the event is older than 30 days.',
      params: WebhookDeliveryId,
      query: NoQuery,
      body: NoBody,
      reply: { status: 200, schema: SingleAttempt },
      errors: ['NOT_FOUND'],
      handler: ({ caller }, { params }) => webhooks.replay(caller.workspaceId, params.id, params.deliveryId),
    }),
    defineRoute({
      ...write,
      operationId: 'webhooks.recover',
      method: 'POST',
      path: '/me/webhooks/{id}/recover',
      summary: 'Deliver again what the webhook missed',
      description:
        'Every kept event of that time that matches and has no successful delivery to this webhook, also ' +
        'those of a time before it existed or when it was not active.',
      params: Id,
      query: NoQuery,
      body: RecoverIn,
      reply: { status: 202, schema: Recovered },
      errors: ['NOT_FOUND', 'CONFLICT'],
      handler: async ({ caller }, { params, body }) => ({
        queued: await webhooks.recover(caller.workspaceId, params.id, body),
      }),
    }),
  ];
}
