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
  /** Numbers of transactions, which mean something to one server alone. */
  isXid: boolean;
}

/** Says of the program and of what is kept by it, not of accounts: a restore makes these by the migrations. */
const LEFT_OUT = ['public.migration', 'pgboss.version', 'pgboss.warning', 'pgboss.queue_stats', 'pgboss.bam'];

/** The tables of this database in the order of their names; what is computed is no column of them. */
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
    where n.nspname in ('public', 'pgboss') and c.relkind in ('r', 'p') and not c.relispartition
      and n.nspname || '.' || c.relname <> all (${LEFT_OUT})
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by 1`;
}

/** Of pg-boss's tables, which are not made by our migrations. */
export async function jobTablesVersion(sql: Sql | TransactionSql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`select version from pgboss.version`;
  return row?.version ?? 0;
}
