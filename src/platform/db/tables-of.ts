import type { Sql, TransactionSql } from 'postgres';

/** A table that a backup has, with everything of its partitions. */
export interface StoredTable {
  /** `public.video`: quoted as SQL wants it. */
  name: string;
  columns: StoredColumn[];
}

interface StoredColumn {
  /** Quoted as SQL wants it. */
  name: string;
  /** Whether the column holds transaction IDs, which are meaningful only on one server. */
  isXid: boolean;
}

/** Lists the tables that a backup stores, by name, without generated columns. A restore fills `migration` by migrating. */
export async function storedTables(sql: Sql | TransactionSql): Promise<StoredTable[]> {
  return sql<StoredTable[]>`
    select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name, a.columns
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select jsonb_agg(jsonb_build_object('name', quote_ident(attname), 'isXid', atttypid = 'xid8'::regtype)
        order by attnum) as columns
      from pg_attribute
      where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') a
    where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migration'
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by 1`;
}
