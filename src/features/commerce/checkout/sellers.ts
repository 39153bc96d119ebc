import type { Mode } from '../../../kernel/access.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { CheckoutPorts } from './ports.ts';
import { findSeller } from './repository.ts';

/** Creator who sells through a checkout. */
export interface Seller {
  name: string;
  mode: Mode;
  isSuspended: boolean;
  /** Time zone in which days are counted (IANA). */
  timezone: string;
  /** Member page of the creator. */
  memberPage: string;
}

/** @param db or the transaction that asks. */
export async function sellerOf(
  { memberPath, publicUrl }: Pick<CheckoutPorts, 'memberPath' | 'publicUrl'>,
  db: Db,
  workspaceId: string,
): Promise<Seller> {
  const { name, username, mode, timezone, suspended_at: suspendedAt } = await findSeller(db, workspaceId);
  return {
    name: name ?? username,
    mode,
    timezone,
    isSuspended: suspendedAt !== null,
    memberPage: `${publicUrl}${memberPath({ username, mode })}`,
  };
}
