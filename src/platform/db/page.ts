import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PageRequest } from '../../kernel/page.ts';
import { NOT_PREPARED } from './dialect.ts';

/**
 * The condition of one page: rows behind `after`, within the creation times asked for. Ids sort by creation,
 * so the primary key is the position: order the query by it and limit it to `page.take`.
 */
export function pageCondition(page: PageRequest, id = 'id', createdAt = 'created_at'): RawBuilder<SqlBool> {
  const parts: RawBuilder<unknown>[] = [];
  if (page.after !== null) {
    parts.push(
      page.order === 'desc' ? sql`${sql.ref(id)} < ${page.after}` : sql`${sql.ref(id)} > ${page.after}`,
    );
  }
  if (page.createdAfter !== null) {
    parts.push(sql`${sql.ref(createdAt)} > ${page.createdAfter}::timestamptz`);
  }
  if (page.createdBefore !== null) {
    parts.push(sql`${sql.ref(createdAt)} < ${page.createdBefore}::timestamptz`);
  }
  return parts.length === 0 ? sql`true` : sql`${sql.join(parts, sql` and `)}`;
}

/**
 * `modifyFront` of a list whose best plan hangs on its values. A plan for any values takes a workspace for an
 * average one and its rows for spread evenly: it then reads the others' rows to find those of a small one.
 */
export const plannedWithValues = sql.raw(NOT_PREPARED);
