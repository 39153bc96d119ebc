import { requiresGate } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { Payouts } from './payouts.service.ts';
import type { Revenue } from './revenue.service.ts';
import { PayoutIn, PayoutOut, RevenueOut, RevenueQuery, toPayout, toRevenue } from './schemas.ts';

const STATUSES = VALUES.payout.status;

interface Deps {
  revenue: Revenue;
  payouts: Payouts;
  cursors: CursorCodec;
}

/** `/monetization/revenue`, `/me/payouts`, `/monetization/payouts` (docs/concepts/revenue.md). */
export function revenueRoutes({ revenue, payouts, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'monetization.revenue',
      method: 'GET',
      path: '/monetization/revenue',
      summary: 'Get revenue over time',
      description: 'Each transaction counts on its own day. Buckets without transactions are included.',
      query: RevenueQuery,
      reply: { status: 200, schema: RevenueOut },
      handler: async ({ caller }, { query }) => toRevenue(await revenue.read(caller.workspaceId, query)),
    }),
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'payouts.list',
      method: 'GET',
      path: '/me/payouts',
      summary: 'List payouts',
      description: "Payouts to the creator's bank, completed and in transit.",
      query: listQuery({ status: CommaList(STATUSES) }),
      reply: { status: 200, schema: PayoutOut, list: true },
      async handler({ caller: { workspaceId } }, { query }) {
        const list = new ListReader(cursors, `payouts:${workspaceId}`, query);
        const statuses = parseList('status', STATUSES, query.status);
        return list.page(await payouts.list(workspaceId, statuses, list.request), toPayout);
      },
    }),
    defineRoute({
      ...requiresGate('admin'),
      operationId: 'payouts.create',
      method: 'POST',
      path: '/monetization/payouts',
      summary: 'Create a payout',
      description:
        'For operators: pays out the provider balance of a workspace now, in addition to the automatic schedule.',
      recentPassword: true,
      body: PayoutIn,
      reply: { status: 201, schema: PayoutOut },
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async (_context, { body }) => toPayout(await payouts.start(body)),
    }),
  ];
}
