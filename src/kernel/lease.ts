import { dateFromMs } from './clock.ts';

/** A row that one node at a time works on. */
export interface LeasedRow {
  id: string;
  node_id: string | null;
  lease_until: Date | null;
}

interface Claiming {
  nodeId: string;
  now: Date;
  leaseMs: number;
  /** @returns those of the ids that nobody else holds, which are now the node's until `until`. */
  claim(ids: readonly string[], until: Date): Promise<ReadonlySet<string>>;
}

/** So much of a lease may be over before it is renewed. */
const RENEWED_AFTER = 1 / 6;

/**
 * What a node may work on: what it holds, renewed where that is due, and what nobody held.
 *
 * @param rows that are to be worked on, and that the node has, or nobody.
 */
export async function claimLeases<R extends LeasedRow>(
  rows: readonly R[],
  { nodeId, now, leaseMs, claim }: Claiming,
): Promise<R[]> {
  const leftMs = leaseMs * (1 - RENEWED_AFTER);
  const isFresh = ({ node_id: holder, lease_until: until }: R) =>
    holder === nodeId && until !== null && until.getTime() - now.getTime() > leftMs;
  const stale = rows.filter((row) => !isFresh(row)).map(({ id }) => id);
  const claimed = await claim(stale, dateFromMs(now.getTime() + leaseMs));
  return rows.filter((row) => isFresh(row) || claimed.has(row.id));
}
