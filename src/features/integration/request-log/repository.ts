import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN, idRangeCondition, pageCondition } from '../../../platform/db/page.ts';
import type { RequestLogTable } from '../../../platform/db/tables.generated.ts';
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

/** Newest rows scanned before the indexes of the filters are queried. */
const MAX_SCANNED_ROWS = 300;

export async function listRequests(
  db: Db,
  workspaceId: string,
  filter: RequestFilter,
  page: PageRequest,
): Promise<RequestRow[]> {
  const { from, to } = filter;
  const range = sql`workspace_id = ${workspaceId} and created_at >= ${from} and ${pageCondition(page, 'id', 'created_at', 'req')}
    and ${idRangeCondition('req', 'id', { from, to })}${to === undefined ? sql`` : sql` and created_at < ${to}`}`;
  const rows = sql`select * from request_log where ${range}`;
  const ordered = (take: number) => sql`order by id ${sql.raw(page.order)} limit ${take}`;
  const { rows: found } = await sql<RequestRow>`${CUSTOM_PLAN}
    with newest as (${rows} ${ordered(MAX_SCANNED_ROWS)}),
      near as materialized (select * from newest where ${matching(filter)} ${ordered(page.fetchLimit)}),
      found as (${rows} and (select count(*) from near) < ${page.fetchLimit} and ${matching(filter)} ${ordered(page.fetchLimit)})
    select * from near where (select count(*) from near) = ${page.fetchLimit}
    union all select * from found ${ordered(page.fetchLimit)}`.execute(db);
  return found;
}

/**
 * Returns the filter condition. One index has these rows in order, so that nothing else is read for sparse
 * matches.
 */
function matching({ requestId, statuses, path, keyId }: RequestFilter): RawBuilder<unknown> {
  const parts = [sql`true`];
  if (requestId !== undefined) parts.push(sql`request_id = ${requestId}`);
  if (keyId !== undefined) parts.push(sql`key_id = ${keyId}`);
  if (path !== undefined) {
    const text = path.text.replace(/[\\%_]/g, '\\$&');
    parts.push(path.isPrefix ? sql`path like ${`${text}%`}` : sql`path = ${path.text}`);
  }
  if (statuses !== undefined) {
    const ranges = statuses.map(({ from, to }) =>
      from === to ? sql`status = ${from}` : sql`status between ${from} and ${to}`,
    );
    parts.push(sql`(${sql.join(ranges, sql` or `)})`);
  }
  return sql.join(parts, sql` and `);
}
