/** Which row, and in which state: a row whose version is the same has not changed. */
export interface Head {
  id: string;
  /** `xmin` of the row, and of what is shown with it: the transactions that wrote them (PostgreSQL 5.6). */
  version: string;
}

/** Of rows as JSON; with the answers that are made of them some four times as much. */
const HELD_CHARACTERS = 4_000_000;

/**
 * Keeps rows that were read, by id and version. Unlike a cache with a time it never answers with what was true before:
 * whoever lists reads ids and versions first, and then only the rows that are not here in that state. The same row in
 * the same state is the same object, which nobody may change (docs/decisions/lists-and-ids.md#rows-by-version).
 *
 * @returns reads the rows of these heads in their order, those that are not here by `load`; null when one was changed
 * or deleted between the two reads: then the rows are to be read in one statement.
 */
export function createVersionedReader<R extends Head>(
  load: (ids: string[]) => Promise<R[]>,
): (heads: readonly Head[]) => Promise<R[] | null> {
  /** In the order of their last use. */
  const held = new Map<string, { row: R; size: number }>();
  let characters = 0;

  const forget = (id: string) => {
    characters -= held.get(id)?.size ?? 0;
    held.delete(id);
  };
  const keep = (row: R) => {
    forget(row.id);
    const size = JSON.stringify(row).length;
    held.set(row.id, { row, size });
    characters += size;
    for (const id of held.keys()) {
      if (characters <= HELD_CHARACTERS) return;
      forget(id);
    }
  };
  const find = ({ id, version }: Head): R | undefined => {
    const known = held.get(id);
    if (known?.row.version !== version) return undefined;
    held.delete(id);
    held.set(id, known);
    return known.row;
  };
  return async (heads) => {
    const found = new Map<string, R>();
    const missing: string[] = [];
    for (const head of heads) {
      const row = find(head);
      if (row === undefined) missing.push(head.id);
      else found.set(head.id, row);
    }
    const loaded = missing.length === 0 ? [] : await load(missing);
    for (const row of loaded) {
      keep(row);
      found.set(row.id, row);
    }
    const rows = heads.flatMap(({ id, version }) => {
      const row = found.get(id);
      return row?.version === version ? [row] : [];
    });
    return rows.length === heads.length ? rows : null;
  };
}
