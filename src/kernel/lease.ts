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
  /**
   * Claims rows for the node. @returns the IDs that no other node holds, which are now leased until `until`.
   */
  claim(ids: readonly string[], until: Date): Promise<ReadonlySet<string>>;
}

/** Fraction of a lease that may pass before it is renewed. */
const RENEWED_AFTER = 1 / 6;

/**
 * Returns the rows that a node may process: those it holds, renewed when due, and those it could claim.
 *
 * @param rows candidate rows, held by the node or by none.
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
