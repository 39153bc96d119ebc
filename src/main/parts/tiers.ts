import type { Accounts } from '../../features/accounts/index.ts';
import {
  createTiers,
  type TierPlaces,
  type Tiers,
  tierPlaces,
  tierRoutes,
} from '../../features/tiers/index.ts';
import { ownerOf, workspaceOf } from '../../platform/db/workspace.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

export function tiersPart(
  base: Base & { accounts: Accounts },
): Built<{ tiers: Tiers; tierPlaces: TierPlaces }> {
  const { accounts, cursors, db } = base;
  const tiers = createTiers({
    ...base,
    creatorOf: async (accountId) => toCreator(await accounts.byId(accountId)),
    creatorNamed: async (username) => toCreator(await accounts.byUsername(username)),
    workspaceOf: (accountId, mode) => workspaceOf(db, accountId, mode),
    ownerOf: (workspaceId) => ownerOf(db, workspaceId),
  });
  return { gives: { tiers, tierPlaces }, part: { routes: () => tierRoutes({ tiers, cursors }) } };
}

function toCreator({ id, username, name }: { id: string; username: string; name: string | null }) {
  return { accountId: id, username, displayName: name ?? username };
}
