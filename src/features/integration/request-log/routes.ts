import { requiresRead } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
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
      ...requiresRead('events:read'),
      operationId: 'requests.list',
      method: 'GET',
      path: '/me/requests',
      summary: 'List API requests',
      description:
        'Includes every error and a sample of successes: per key, the first ten in ten seconds and every tenth after that. Available one second after the response. `from` and `to` correspond to `createdAfter` and `createdBefore` elsewhere.',
      skipSuccessLog: true,
      query: listQuery(requestFilters),
      reply: { status: 200, schema: RequestOut, list: true },
      async handler({ caller: { workspaceId } }, { query }) {
        const list = new ListReader(cursors, `requests:${workspaceId}`, query);
        return list.page(await requestLog.list(workspaceId, query, list.request), toRequest);
      },
    }),
  ];
}
