import { anyKey } from '../../../http/access.ts';
import { ListReader } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { USAGE_NAMES } from './rules.ts';
import {
  REQUEST_COLUMNS,
  RequestsQuery,
  requestCsvRows,
  toRequests,
  toUsage,
  USAGE_COLUMNS,
  UsageOut,
  UsageQuery,
  UsageRequests,
  usageCsvRows,
} from './schemas.ts';
import type { UsageReader } from './service.ts';

interface Deps {
  usage: UsageReader;
  cursors: CursorCodec;
}

/** `/usage` (docs/concepts/usage.md). */
export function usageRoutes({ usage, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...anyKey,
      operationId: 'usage.get',
      method: 'GET',
      path: '/usage',
      summary: 'Get usage over time',
      description:
        'Storage, egress, minutes, requests and deliveries of the workspace. Buckets without usage are included.',
      query: UsageQuery,
      reply: { status: 200, schema: UsageOut, csv: USAGE_COLUMNS },
      async handler({ caller: { workspaceId }, acceptsCsv }, { query: { metric, ...range } }) {
        const names = parseList('metric', USAGE_NAMES, metric) ?? USAGE_NAMES;
        const report = await usage.read(workspaceId, range, names);
        return acceptsCsv ? usageCsvRows(report) : toUsage(report);
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'usage.requests',
      method: 'GET',
      path: '/usage/requests',
      summary: 'Get requests by key and day',
      description: 'One row per key and UTC day of use. Requests without a key are from the dashboard.',
      query: RequestsQuery,
      reply: { status: 200, schema: UsageRequests, list: true, csv: REQUEST_COLUMNS },
      async handler({ caller: { workspaceId }, acceptsCsv }, { query }) {
        const list = new ListReader(cursors, `usage.requests:${workspaceId}`, query);
        if (acceptsCsv) return requestCsvRows(usage.everyRequest(workspaceId, query, list.request.order));
        return list.page(await usage.requests(workspaceId, query, list.request), toRequests);
      },
    }),
  ];
}
