import { sql } from 'kysely';
import { type Interval, splitWholeDays } from '../../../kernel/date-range.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';
import type { UsageTotalMetric } from '../../../platform/db/tables.generated.ts';

interface Amount {
  position: number;
  metric: UsageTotalMetric;
  amount: number;
}

/**
 * Returns the amounts of each bucket from the rollups of its whole UTC days and of the remaining
 * quarter-hours: three short index scans for each bucket and metric, regardless of traffic.
 */
export async function getUsageAmounts(
  db: Db,
  workspaceId: string,
  pieces: readonly Interval[],
  metrics: readonly UsageTotalMetric[],
): Promise<Amount[]> {
  const walks = pieces.flatMap((piece, position) => {
    const { days, edges } = splitWholeDays(piece);
    const whole = days.from < days.to ? [{ ...days, span: 1440 }] : [];
    return [...whole, ...edges.map((edge) => ({ ...edge, span: 15 }))].map((walk) => ({ ...walk, position }));
  });
  const { rows } = await sql<Amount>`
    select walk.position, wanted.metric, case wanted.metric when 'STORAGE' then max(part.most) else sum(part.total) end::bigint as amount
    from unnest(${walks.map(({ position }) => position)}::integer[], ${walks.map(({ span }) => span)}::smallint[],
        ${walks.map(({ from }) => from.toISOString())}::timestamptz[],
        ${walks.map(({ to }) => to.toISOString())}::timestamptz[]) as walk (position, span, begins, ends)
      cross join unnest(${metrics}::text[]) as wanted (metric),
      lateral (select sum(amount) as total, max(amount) as most from usage_total used
        where used.workspace_id = ${workspaceId} and used.metric = wanted.metric and used.interval_min = walk.span
          and used.at >= walk.begins and used.at < walk.ends) part
    where part.total is not null
    group by walk.position, wanted.metric`.execute(db);
  return rows;
}

export interface RequestsRow {
  /** Cursor ID, `<day>/<key>`. */
  id: string;
  date: string;
  /** Null for the dashboard. */
  keyId: string | null;
  requests: number;
  errors4xx: number;
  errors5xx: number;
  rateLimited: number;
}

/** Lists a row for each day and key, by default the newest day first. */
export async function requestsOf(
  db: Db,
  workspaceId: string,
  { from, to, keyId }: Interval & { keyId: string | undefined },
  page: Pick<PageRequest, 'after' | 'order' | 'fetchLimit'>,
): Promise<RequestsRow[]> {
  const [day, key = ''] = page.after?.split('/', 2) ?? [];
  const order = sql.raw(page.order);
  const behind =
    day === undefined
      ? sql`true`
      : sql`(at, key_id) ${sql.raw(page.order === 'desc' ? '<' : '>')} (${`${day}T00:00:00Z`}::timestamptz, ${key})`;
  const { rows } = await sql<RequestsRow>`
    ${CUSTOM_PLAN} select to_char(at at time zone 'UTC', 'YYYY-MM-DD') || '/' || key_id as id,
      to_char(at at time zone 'UTC', 'YYYY-MM-DD') as date, nullif(key_id, '') as "keyId", requests,
      errors_4xx as "errors4xx", errors_5xx as "errors5xx", rate_limited as "rateLimited"
    from usage_request
    where workspace_id = ${workspaceId} and at >= ${from} and at < ${to} and ${behind}
      and ${keyId === undefined ? sql`true` : sql`key_id = ${keyId}`}
    order by at ${order}, key_id ${order} limit ${page.fetchLimit}`.execute(db);
  return rows;
}
