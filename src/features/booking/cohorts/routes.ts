import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, Deleted, PathId, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import {
  Cohort,
  CohortIn,
  CohortPatch,
  CohortVideo,
  CohortVideoIn,
  toCohort,
  toCohortVideo,
} from './schemas.ts';
import type { Cohorts } from './service.ts';

const OfProduct = Type.Object({ productId: PathId('bkp', 'product') });
const cohortId = PathId('coh', 'cohort');
const Id = Type.Object({ cohortId });
const OfVideo = Type.Object({ cohortId, cvId: PathId('cvi', 'video in the cohort') });
const STATUSES = VALUES.cohort.status;

interface Deps {
  cohorts: Cohorts;
  cursors: CursorCodec;
}

/** `/booking/cohorts`, and those of a product (docs/concepts/booking-cohorts.md). */
export function cohortRoutes(deps: Deps): Route[] {
  return [...ofProduct(deps), ...resource(deps), ...videos(deps)];
}

function ofProduct({ cohorts, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'cohorts.create',
      method: 'POST',
      path: '/booking/products/{productId}/cohorts',
      summary: 'Create a cohort',
      description: 'For COHORT products. Its sessions block time in your calendar.',
      params: OfProduct,
      body: CohortIn,
      reply: { status: 201, schema: Cohort },
      errors: ['CONFLICT'],
      handler: async ({ caller: { workspaceId, mode } }, { params, body }) =>
        toCohort(await cohorts.create(workspaceId, params.productId, body), mode),
    }),
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'cohorts.list',
      method: 'GET',
      path: '/booking/products/{productId}/cohorts',
      summary: 'List cohorts',
      description: 'Includes completed and canceled cohorts.',
      params: OfProduct,
      query: listQuery({ status: CommaList(STATUSES) }),
      reply: { status: 200, schema: Cohort, list: true },
      async handler({ caller: { workspaceId, mode } }, { params: { productId }, query }) {
        const list = new ListReader(cursors, `cohorts:${workspaceId}:${productId}`, query);
        const statuses = parseList('status', STATUSES, query.status);
        const rows = await cohorts.list(workspaceId, productId, statuses, list.request);
        const whole = await cohorts.whole(rows);
        return list.page(
          whole.map((one) => ({ id: one.row.id, one })),
          ({ one }) => toCohort(one, mode),
        );
      },
    }),
  ];
}

function resource({ cohorts }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'cohorts.get',
      method: 'GET',
      path: '/booking/cohorts/{cohortId}',
      summary: 'Get a cohort',
      description: 'Includes sessions and videos.',
      params: Id,
      reply: { status: 200, schema: Cohort },
      async handler({ caller: { workspaceId, mode } }, { params }) {
        const row = await cohorts.get(workspaceId, params.cohortId);
        const [one = { row, sessions: [], videos: [] }] = await cohorts.whole([row]);
        return toCohort(one, mode);
      },
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'cohorts.update',
      method: 'PATCH',
      path: '/booking/cohorts/{cohortId}',
      summary: 'Update a cohort',
      description:
        '`sessions` is replaced as a whole: a session without an `id` is added, a missing one is removed.',
      params: Id,
      body: CohortPatch,
      reply: { status: 200, schema: Cohort },
      errors: ['CONFLICT'],
      handler: async ({ caller: { workspaceId, mode } }, { params, body }) =>
        toCohort(await cohorts.update(workspaceId, params.cohortId, body), mode),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'cohorts.cancel',
      method: 'DELETE',
      path: '/booking/cohorts/{cohortId}',
      summary: 'Cancel a cohort',
      description:
        'Only before the cohort starts. Cancels and refunds its bookings; the cohort stays readable.',
      params: Id,
      reply: { status: 200, schema: Cohort },
      errors: ['CONFLICT'],
      handler: async ({ caller: { workspaceId, mode } }, { params }) =>
        toCohort(await cohorts.cancel(workspaceId, params.cohortId), mode),
    }),
  ];
}

function videos({ cohorts }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'cohorts.addVideo',
      method: 'POST',
      path: '/booking/cohorts/{cohortId}/videos',
      summary: 'Add a video to a cohort',
      description: 'Members can watch the video from `releaseAt`.',
      params: Id,
      body: CohortVideoIn,
      reply: { status: 201, schema: CohortVideo },
      errors: ['CONFLICT'],
      handler: async ({ caller }, { params, body }) =>
        toCohortVideo(await cohorts.addVideo(caller.workspaceId, params.cohortId, body)),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'cohorts.removeVideo',
      method: 'DELETE',
      path: '/booking/cohorts/{cohortId}/videos/{cvId}',
      summary: 'Remove a video from a cohort',
      description: 'The video itself is not deleted; members can no longer watch it.',
      params: OfVideo,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await cohorts.removeVideo(caller.workspaceId, params.cohortId, params.cvId);
        return { id: params.cvId, deleted: true };
      },
    }),
  ];
}
