import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db } from '../../platform/db/index.ts';
import { pageCondition, plannedWithValues } from '../../platform/db/page.ts';
import type { Database, RequestLogTable } from '../../platform/db/tables.generated.ts';
import type { RecordedRequest } from './recorder.ts';
import type { PathFilter, StatusRange } from './rules.ts';

export type RequestRow = Selectable<RequestLogTable>;

/** One statement for all rows; one that is there already is left as it is. */
export async function insertRequests(db: Db, rows: readonly RecordedRequest[]): Promise<void> {
  await sql`
    insert into request_log (id, workspace_id, request_id, key_id, method, path, status, code, ms, created_at)
    select id, "workspaceId", "requestId", "keyId", method, path, status, code, ms, "at"
    from json_to_recordset(${JSON.stringify(rows)}::json) as x (id text, "workspaceId" text, "requestId" uuid,
      "keyId" text, method text, path text, status smallint, code text, ms float8, "at" timestamptz)
    on conflict do nothing`.execute(db);
}

export interface RequestFilter {
  requestId: string | undefined;
  statuses: readonly StatusRange[] | undefined;
  path: PathFilter | undefined;
  keyId: string | undefined;
  from: Date;
  /** Not included. */
  to: Date | undefined;
}

export function listRequests(
  db: Db,
  workspaceId: string,
  filter: RequestFilter,
  page: PageRequest,
): Promise<RequestRow[]> {
  const rows = db
    .selectFrom('request_log')
    .modifyFront(plannedWithValues)
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('created_at', '>=', filter.from)
    .where(pageCondition(page))
    .orderBy('id', page.order)
    .limit(page.take);
  return filtered(rows, filter).execute();
}

type Rows = SelectQueryBuilder<Database, 'request_log', RequestRow>;

function filtered(rows: Rows, { requestId, statuses, path, keyId, to }: RequestFilter): Rows {
  let query = rows;
  if (requestId !== undefined) query = query.where('request_id', '=', requestId);
  if (keyId !== undefined) query = query.where('key_id', '=', keyId);
  if (to !== undefined) query = query.where('created_at', '<', to);
  if (path !== undefined) {
    query = path.isPrefix
      ? query.where(sql<boolean>`starts_with(path, ${path.text})`)
      : query.where('path', '=', path.text);
  }
  if (statuses === undefined) return query;
  return query.where(({ or, between }) =>
    or(statuses.map((range) => between('status', range.from, range.to))),
  );
}
