import Type from 'typebox';
import { requiresGate } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import {
  CancelIn,
  SIMULATIONS,
  SimulateIn,
  type Simulation,
  Subscription,
  SwitchIn,
  toSubscription,
} from './schemas.ts';
import type { Subscriptions } from './service.ts';
import type { Simulations } from './simulation.service.ts';

const Id = IdParams('sub', 'subscription');
const reply = { status: 200, schema: Subscription } as const satisfies RouteOptions['reply'];

interface Deps {
  subscriptions: Subscriptions;
  simulations: Simulations;
  cursors: CursorCodec;
}

/** `/me/subscriptions`, docs/concepts/subscriptions.md. */
export function subscriptionRoutes({ subscriptions, simulations, cursors }: Deps): Route[] {
  return [
    ...readRoutes({ subscriptions, cursors }),
    defineRoute({
      ...requiresGate('finance-write'),
      operationId: 'subscriptions.cancel',
      method: 'POST',
      path: '/me/subscriptions/{id}/cancel',
      summary: 'Cancel a subscription',
      description: 'Cancels at the end of the period (idempotent) or immediately. Does not refund anything.',
      params: Id,
      body: CancelIn,
      reply,
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) => {
        const how = { atPeriodEnd: body.atPeriodEnd, by: 'CREATOR_CANCELED' } as const;
        return toSubscription(await subscriptions.cancel(caller.workspaceId, params.id, how), caller.mode);
      },
    }),
    defineRoute({
      ...requiresGate('finance-write'),
      operationId: 'subscriptions.resume',
      method: 'POST',
      path: '/me/subscriptions/{id}/resume',
      summary: 'Resume a canceled subscription',
      description: 'Possible until the current period ends.',
      params: Id,
      reply,
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params }) =>
        toSubscription(await subscriptions.resume(caller.workspaceId, params.id), caller.mode),
    }),
    defineRoute({
      ...requiresGate('finance-write'),
      operationId: 'subscriptions.switch',
      method: 'POST',
      path: '/me/subscriptions/{id}/switch',
      summary: "Change a subscription's tier",
      description:
        'A more expensive tier with the same interval takes effect immediately: the difference is charged to the card of the subscription, or the full price during a trial. Returns 409 for `tierId` if no card is saved for the subscription, and emails the member a link to agree. Any other change takes effect with the next period (`pendingTierId`). Choosing the current tier cancels a pending change.',
      params: Id,
      body: SwitchIn,
      reply,
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async ({ caller }, { params, body }) =>
        toSubscription(
          await subscriptions.switchTier(caller.workspaceId, params.id, {
            tierId: body.tierId,
            by: 'CREATOR',
          }),
          caller.mode,
        ),
    }),
    defineRoute({
      ...requiresGate('finance-write'),
      onlyMode: 'test',
      operationId: 'subscriptions.simulate',
      method: 'POST',
      path: '/me/subscriptions/{id}/simulate',
      summary: 'Simulate a subscription event (test mode)',
      description: `Test mode only. One of ${SIMULATIONS.join(', ')}.`,
      params: Id,
      body: SimulateIn,
      reply,
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async ({ caller }, { params, body }) => {
        const event: Simulation = body.event;
        await simulations.run(caller.workspaceId, params.id, event);
        return toSubscription(await subscriptions.get(caller.workspaceId, params.id), caller.mode);
      },
    }),
  ];
}

function readRoutes({ subscriptions, cursors }: Pick<Deps, 'subscriptions' | 'cursors'>): Route[] {
  return [
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'subscriptions.list',
      method: 'GET',
      path: '/me/subscriptions',
      summary: 'List subscriptions',
      description: 'Includes ended subscriptions.',
      query: listQuery({
        status: CommaList(VALUES.subscription.status),
        tierId: Type.Optional(
          Type.String({ maxLength: 64, description: 'Only subscriptions of this tier.' }),
        ),
      }),
      reply: { ...reply, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `subscriptions:${workspaceId}`, query);
        const status = parseList('status', VALUES.subscription.status, query.status);
        const filter = { status, tierId: query.tierId };
        const rows = await subscriptions.list(workspaceId, filter, list.request);
        return list.page(rows, (row) => toSubscription(row, mode));
      },
    }),
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'subscriptions.get',
      method: 'GET',
      path: '/me/subscriptions/{id}',
      summary: 'Get a subscription',
      description: 'Returns a subscription to one of your tiers.',
      params: Id,
      reply,
      handler: async ({ caller }, { params }) =>
        toSubscription(await subscriptions.get(caller.workspaceId, params.id), caller.mode),
    }),
  ];
}
