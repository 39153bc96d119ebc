import { anyKey } from '../../../http/access.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import {
  type Heights,
  QuotaOut,
  Resource,
  ResourceParams,
  toMedia,
  toRequests,
  toResource,
} from './schemas.ts';
import type { Quota } from './service.ts';

interface Deps {
  quota: Quota;
  heights: Heights;
}

/** `/quota` (docs/concepts/quota.md). */
export function quotaRoutes({ quota, heights }: Deps): Route[] {
  return [
    defineRoute({
      ...anyKey,
      operationId: 'quota.get',
      method: 'GET',
      path: '/quota',
      summary: 'Get plan limits and usage',
      description: 'Per workspace: live and test usage is counted separately.',
      reply: { status: 200, schema: QuotaOut },
      async handler({ caller }) {
        const { workspaceId, mode } = caller;
        const { plan, resources } = await quota.read(workspaceId);
        const requests = await quota.requests(caller);
        return {
          plan,
          mode,
          resources: resources.map(toResource),
          media: toMedia(plan, mode, heights),
          requests: toRequests(requests),
        };
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'quota.resource',
      method: 'GET',
      path: '/quota/{key}',
      summary: 'Get a plan resource',
      description: 'The plan limit and current usage, as in `GET /quota`.',
      params: ResourceParams,
      reply: { status: 200, schema: Resource },
      handler: async ({ caller }, { params }) =>
        toResource(await quota.resource(caller.workspaceId, params.key)),
    }),
  ];
}
