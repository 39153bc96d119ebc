import { sql } from 'kysely';
import type { Interval } from '../../../kernel/date-range.ts';
import type { Db } from '../../../platform/db/index.ts';
import { CUSTOM_PLAN } from '../../../platform/db/page.ts';

export interface MembersAt {
  /** Includes members on trial, and those whose renewal failed and is retried. */
  members: number;
  /** Monthly revenue of paying members at their current prices: a yearly price is divided by 12, floored. */
  mrrCents: number;
}

/** Returns the member counts at each of these moments. */
export async function membersAt(db: Db, workspaceId: string, moments: readonly Date[]): Promise<MembersAt[]> {
  const { rows } = await sql<MembersAt>`
    ${CUSTOM_PLAN} select found.* from unnest(${moments.map((at) => at.toISOString())}::timestamptz[])
      with ordinality as moment (at, position),
      lateral (select count(*)::bigint as members,
          coalesce(sum(case interval when 'YEAR' then price_cents / 12 else price_cents end) filter (
            where (trial_ends_at is null or trial_ends_at <= moment.at)
              and (ended_at is not null or status <> 'TRIALING')), 0)::bigint as "mrrCents"
        from subscription where workspace_id = ${workspaceId} and created_at <= moment.at
          and (ended_at is null or ended_at > moment.at)) found
    order by position`.execute(db);
  return rows;
}

export interface MemberChanges {
  began: number;
  ended: number;
}

/** Returns the memberships that began and ended in each interval. */
export async function memberChanges(
  db: Db,
  workspaceId: string,
  spans: readonly Interval[],
): Promise<MemberChanges[]> {
  const begins = spans.map(({ from }) => from.toISOString());
  const ends = spans.map(({ to }) => to.toISOString());
  const { rows } = await sql<MemberChanges>`
    ${CUSTOM_PLAN} select found.* from unnest(${begins}::timestamptz[], ${ends}::timestamptz[])
      with ordinality as span (begins, ends, position),
      lateral (select
          count(*) filter (where created_at >= span.begins and created_at < span.ends)::bigint as began,
          count(*) filter (where ended_at >= span.begins and ended_at < span.ends)::bigint as ended
        from subscription where workspace_id = ${workspaceId}) found
    order by position`.execute(db);
  return rows;
}
