import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../../kernel/page.ts';
import { ID_IN_C_COLLATION } from '../../../platform/db/page.ts';
import {
  baseCondition,
  type FilteredTable,
  idIn,
  orderedPage,
  pageByIndexOrder,
  pagePerCombination,
} from '../../../platform/db/page-filters.ts';
import { searchPage } from '../../../platform/db/search.ts';
import { type BookingStatus, VALUES } from '../../../platform/db/tables.generated.ts';

/** Filter of bookings. An absent field matches every row; starts are at or after `from` and before `to`. */
export interface BookingFilter {
  status?: readonly BookingStatus[] | undefined;
  productId?: string | undefined;
  cohortId?: string | undefined;
  customerEmail?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

interface Span {
  from: Date | undefined;
  to: Date | undefined;
}

/**
 * Returns the condition of one page, which reads few rows beyond the page
 * (docs/decisions/lists-and-ids.md#filters).
 */
export function onPageOfBookings(
  workspaceId: string,
  filter: BookingFilter,
  page: PageRequest,
): RawBuilder<SqlBool> {
  const { status, productId, cohortId, customerEmail, from, to } = filter;
  const place = { product_id: productId, cohort_id: cohortId };
  const of = { workspace_id: workspaceId, ...place, customer_email: customerEmail };
  const listed = { table: 'booking', prefix: 'bkg', of } as const;
  // The indexes by product and by cohort include no other filter column than the status.
  const isOfPlace = productId !== undefined || cohortId !== undefined;
  // The index by customer includes the workspace.
  const ofPlace = customerEmail === undefined ? { ...of, workspace_id: undefined } : of;
  const onPageOfPlace = (where?: RawBuilder<unknown>) => sql<SqlBool>`booking.workspace_id = ${workspaceId}
    and ${pageByIndexOrder(page, { ...listed, of: ofPlace, where }, each)}`;
  const statuses = [...new Set(status ?? VALUES.booking.status)];
  const each = { status: [status, VALUES.booking.status] } as const;
  if (from !== undefined || to !== undefined) {
    const wanted = { page, workspaceId, listed, statuses };
    const span = { from, to };
    // All bookings of a cohort begin together.
    if (cohortId !== undefined) {
      const where = sql`exists (select from (${cohortsWithin(workspaceId, span)}) one where at = ${cohortId})`;
      return onPageOfPlace(where);
    }
    const isOfOne = productId !== undefined || customerEmail !== undefined;
    return idIn(listed, isOfOne ? beginningOf(wanted, span, filter) : beginning(wanted, span));
  }
  return isOfPlace ? onPageOfPlace() : pagePerCombination(page, listed, each);
}

const isWithin = ({ from, to }: Span) =>
  sql.join(
    [
      ...(from === undefined ? [] : [sql`starts_at >= ${from}`]),
      ...(to === undefined ? [] : [sql`starts_at < ${to}`]),
    ],
    sql` and `,
  );

const cohortsWithin = (workspaceId: string, span: Span) =>
  sql`select id as at from cohort where workspace_id = ${workspaceId} and ${isWithin(span)}`;

/** Includes bookings of a cohort that begins in the range. */
function beginsWithin(workspaceId: string, span: Span): RawBuilder<unknown> {
  return sql`((${isWithin(span)}) or cohort_id = any(array(${cohortsWithin(workspaceId, span)})))`;
}

interface Wanted {
  page: PageRequest;
  workspaceId: string;
  listed: FilteredTable;
  statuses: readonly BookingStatus[];
}

/** Returns the page of bookings of one product or customer within a time range. */
function beginningOf(
  { page, workspaceId, statuses }: Wanted,
  span: Span,
  { productId, customerEmail }: BookingFilter,
): RawBuilder<unknown> {
  const isOf = [
    ...(productId === undefined ? [] : [sql`product_id = ${productId}`]),
    ...(customerEmail === undefined ? [] : [sql`customer_email = ${customerEmail}`]),
  ];
  return searchPage(page, {
    table: 'booking',
    within: baseCondition(page, { table: 'booking', prefix: 'bkg', of: { workspace_id: workspaceId } }),
    matching: sql`${sql.join(isOf, sql` and `)} and status = any(${statuses}::text[])
      and ${beginsWithin(workspaceId, span)}`,
  });
}

/**
 * Returns the IDs of a page of bookings that begin in a range: in its whole months, in the whole days before
 * and after these, in the rest at both ends, and with their cohorts. An index lists the bookings of each day
 * and month in order. A page reads at most as many days and months as it has rows, those with the first
 * bookings.
 */
function beginning(wanted: Wanted, span: Span): RawBuilder<unknown> {
  const { page, workspaceId, listed, statuses } = wanted;
  const { from = null, to = null } = span;
  const end = (low: RawBuilder<unknown>, high: RawBuilder<unknown>) => sql`select id from booking, span
    where ${baseCondition(page, listed)} and status = any(${statuses}::text[])
      and starts_at >= ${low} and starts_at < ${high}`;
  return sql`
    with known as (
      select case when min(starts_at) is not null then greatest(${from}::timestamptz, min(starts_at)) end as low,
        least(${to}::timestamptz, max(starts_at) + interval '1 us') as high from booking where workspace_id = ${workspaceId}),
    whole as (
      select low, high, date_trunc('day', low at time zone 'UTC' - interval '1 us') + interval '1 day' as first_day,
        date_trunc('day', high at time zone 'UTC') as end_day from known),
    bounds as (
      select *, date_trunc('month', first_day - interval '1 us') + interval '1 month' as first_month,
        date_trunc('month', end_day) as end_month from whole),
    span as materialized (select *, first_month < end_month as has_months from bounds),
    days as (
      select generate_series(first_day, case when has_months then first_month else end_day end - interval '1 day',
        interval '1 day') as at from span
      union all
      select generate_series(end_month, end_day - interval '1 day', interval '1 day') from span where has_months),
    months as (
      select generate_series(first_month, end_month - interval '1 month', interval '1 month') as at from span)
    ${orderedPage(
      sql`(
        ${ofEach(wanted, sql`days`, sql`date_trunc('day', starts_at at time zone 'UTC') = each.at`)}
        union all ${ofEach(wanted, sql`months`, sql`date_trunc('month', starts_at at time zone 'UTC') = each.at`)}
        union all ${ofEach(wanted, sql`(${cohortsWithin(workspaceId, span)})`, sql`cohort_id = each.at`)}
        union all ${end(sql`low`, sql`least(first_day at time zone 'UTC', high)`)}
        union all ${end(sql`greatest(first_day, end_day) at time zone 'UTC'`, sql`high`)}) found`,
      page,
    )}`;
}

/**
 * Returns a page of the bookings of each item, by status, limited to the items that can have a row on the
 * page.
 */
function ofEach(
  { page, listed, statuses }: Wanted,
  each: RawBuilder<unknown>,
  isOf: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const rows = sql`booking where ${baseCondition(page, listed, ID_IN_C_COLLATION)} and ${isOf} and status = of_status`;
  const first = orderedPage(rows, { ...page, fetchLimit: 1 }, ID_IN_C_COLLATION);
  return sql`select one.id from (
      select at, of_status from ${each} each, unnest(${statuses}::text[]) of_status, lateral (${first}) head
      order by head.id ${sql.raw(page.order)} limit ${page.fetchLimit}) each,
    lateral (${orderedPage(rows, page, ID_IN_C_COLLATION)}) one`;
}
