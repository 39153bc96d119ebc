import { sql } from 'kysely';
import { createBatchReader } from './batch.ts';

/** Which row, and in which state: a row whose version is the same has not changed. */
export interface Head {
  id: string;
  /** `xmin` of the row, and of what is shown with it: the transactions that wrote them (PostgreSQL 5.6). */
  version: string;
}

/**
 * Which server answers, for versions: after a failover another one may give the numbers of transactions that were lost
 * a second time. Read once for each statement.
 */
export const server = sql<string>`(select '@' || extract(epoch from pg_postmaster_start_time())::text)`;

/** Of rows as JSON; with the answers that are made of them some five times as much. */
const HELD_CHARACTERS = 4_000_000;

/** How rows are read, outside any transaction; a row that is missing is left out. */
interface Statements<R extends Head> {
  heads(ids: readonly string[]): Promise<Head[]>;
  load(ids: readonly string[]): Promise<R[]>;
}

/** The same row in the same state is the same object, which nobody may change. */
export interface VersionedReader<R extends Head> {
  /** The row as it is now; undefined when there is none. Rows that are asked for in one turn are one statement. */
  row(id: string): Promise<R | undefined>;
  /**
   * The rows of these heads in their order; null when one was changed or deleted since they were read: then the rows
   * are to be read in one statement.
   */
  rows(heads: readonly Head[]): Promise<R[] | null>;
}

/**
 * Keeps rows that were read, by id and version. Unlike a cache with a time it never answers with what was true before:
 * whoever reads asks for ids and versions first, and then only for the rows that are not here in that state
 * (docs/decisions/lists-and-ids.md#rows-by-version).
 */
export function createVersionedReader<R extends Head>(statements: Statements<R>): VersionedReader<R> {
  const held = createHeldRows<R>();
  const load = async (ids: string[]) => {
    const rows = ids.length === 0 ? [] : await statements.load(ids);
    for (const row of rows) held.keep(row);
    return rows;
  };
  /** Rows that are held cost their heads, all others are read whole at once. */
  const current = async (ids: string[]) => {
    const known = ids.filter((id) => held.has(id));
    const others = ids.filter((id) => !held.has(id));
    const [heads, loaded] = await Promise.all([
      known.length === 0 ? [] : statements.heads(known),
      load(others),
    ]);
    const same = heads.flatMap((head) => held.find(head) ?? []);
    if (same.length === known.length) return [...same, ...loaded];
    const left = new Set(known);
    for (const { id } of same) left.delete(id);
    for (const id of left) held.forget(id);
    return [...same, ...loaded, ...(await load([...left]))];
  };
  return {
    row: createBatchReader(current),
    async rows(heads) {
      const found = new Map<string, R>();
      const missing: string[] = [];
      for (const head of heads) {
        const row = held.find(head);
        if (row === undefined) missing.push(head.id);
        else found.set(head.id, row);
      }
      for (const row of await load(missing)) found.set(row.id, row);
      const rows = heads.flatMap(({ id, version }) => {
        const row = found.get(id);
        return row?.version === version ? [row] : [];
      });
      return rows.length === heads.length ? rows : null;
    },
  };
}

function createHeldRows<R extends Head>() {
  /** In the order in which they came, or were spared. */
  const held = new Map<string, { row: R; size: number; isUsed: boolean }>();
  let characters = 0;

  const forget = (id: string) => {
    characters -= held.get(id)?.size ?? 0;
    held.delete(id);
  };
  return {
    forget,
    has: (id: string) => held.has(id),
    find({ id, version }: Head): R | undefined {
      const known = held.get(id);
      if (known?.row.version !== version) return undefined;
      known.isUsed = true;
      return known.row;
    },
    keep(row: R) {
      forget(row.id);
      const size = JSON.stringify(row).length;
      held.set(row.id, { row, size, isUsed: false });
      characters += size;
      for (const [id, one] of held) {
        if (characters <= HELD_CHARACTERS) return;
        held.delete(id);
        // Spared once for each time that it was used: to move it with each use costs more than to find it.
        if (one.isUsed) held.set(id, { ...one, isUsed: false });
        else characters -= one.size;
      }
    },
  };
}
