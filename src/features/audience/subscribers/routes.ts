import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, ExistingResource, type Route } from '../../../http/route.ts';
import { CommaList, Deleted, IdParams, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { HOUR_SEC } from '../../../kernel/durations.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import { Subscriber, SubscriberIn, toSubscriber } from './schemas.ts';
import type { Subscribers } from './service.ts';

const STATUSES = VALUES.subscriber.status;

interface Deps {
  subscribers: Subscribers;
  cursors: CursorCodec;
}

/** `/subscribers` (docs/concepts/subscribers.md). */
export function subscriberRoutes({ subscribers, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('subscribers:write'),
      operationId: 'subscribers.add',
      method: 'POST',
      path: '/subscribers',
      summary: 'Add a subscriber',
      description:
        'Without `consentAt`, the person is asked to confirm by email, at most once a day. Returns 200 with the existing entry if the address is already on the list.',
      limits: [{ bucket: 'subscribers', per: 'key', max: 100, windowSec: HOUR_SEC, refusal: 'RATE_LIMITED' }],
      body: SubscriberIn,
      reply: { status: 201, schema: Subscriber, existing: true },
      async handler({ caller: { workspaceId, mode, actor } }, { body }) {
        const source = body.source?.trim() || (actor.kind === 'key' ? 'API' : 'DASHBOARD');
        const { row, isNew } = await subscribers.add(workspaceId, { ...body, source });
        const out = toSubscriber(row, mode);
        return isNew ? out : new ExistingResource(out);
      },
    }),
    defineRoute({
      ...requiresRead('subscribers:read'),
      operationId: 'subscribers.list',
      method: 'GET',
      path: '/subscribers',
      summary: 'List subscribers',
      description: 'Includes unsubscribed people. `q` matches part of the address or name.',
      query: listQuery({
        status: CommaList(STATUSES),
        q: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: 'Part of the email address or name.' }),
        ),
      }),
      reply: { status: 200, schema: Subscriber, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `subscribers:${workspaceId}`, query);
        const filters = { statuses: parseList('status', STATUSES, query.status), q: query.q };
        const rows = await subscribers.list(workspaceId, filters, list.request);
        return list.page(rows, (row) => toSubscriber(row, mode));
      },
    }),
    defineRoute({
      ...requiresWrite('subscribers:write'),
      operationId: 'subscribers.delete',
      method: 'DELETE',
      path: '/subscribers/{id}',
      summary: 'Delete a subscriber',
      description: 'An unsubscribed address must still confirm if it is added again.',
      params: IdParams('sbr', 'subscriber'),
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await subscribers.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
  ];
}
