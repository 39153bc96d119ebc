import { reads } from '../../http/access.ts';
import { ListReader, listQuery } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import type { CursorCodec } from '../../kernel/cursor.ts';
import { RequestOut, requestFilters, toRequest } from './schemas.ts';
import type { RequestLog } from './service.ts';

interface Deps {
  requestLog: RequestLog;
  cursors: CursorCodec;
}

/** `/me/requests` (docs/concepts/requests.md). */
export function requestLogRoutes({ requestLog, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...reads('events:read'),
      operationId: 'requests.list',
      method: 'GET',
      path: '/me/requests',
      summary: 'List API requests',
      description:
        'Every error, and successes: of one key the first ten in ten seconds, and every tenth of the others. A ' +
        'request is here a second after its answer. `from` and `to` are what `createdAfter` and `createdBefore` ' +
        'are elsewhere.',
      isPolled: true,
      query: listQuery(requestFilters),
      reply: { status: 200, schema: RequestOut, list: true },
      async handler({ caller: { workspaceId } }, { query }) {
        const list = new ListReader(cursors, `requests:${workspaceId}`, query);
        return list.page(await requestLog.list(workspaceId, query, list.request), toRequest);
      },
    }),
  ];
}
