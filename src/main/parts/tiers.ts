import {
  createTiers,
  type TierCapacity,
  type Tiers,
  tierCapacity,
  tierRoutes,
} from '../../features/commerce/tiers/index.ts';
import type { Accounts } from '../../features/identity/accounts/index.ts';
import { getWorkspaceOwner, workspaceOf } from '../../platform/db/workspace.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function tiersPart(
  base: BaseContext & { accounts: Accounts },
): ModuleWithExports<{ tiers: Tiers; tierPlaces: TierCapacity }> {
  const { accounts, cursors, db } = base;
  const tiers = createTiers({
    ...base,
    creatorOf: async (accountId) => toCreator(await accounts.byId(accountId)),
    creatorNamed: async (username) => toCreator(await accounts.byUsername(username)),
    workspaceOf: (accountId, mode) => workspaceOf(db, accountId, mode),
    ownerOf: (workspaceId) => getWorkspaceOwner(db, workspaceId),
  });
  return {
    exports: { tiers, tierPlaces: tierCapacity },
    module: { routes: () => tierRoutes({ tiers, cursors }) },
  };
}

function toCreator({ id, username, name }: { id: string; username: string; name: string | null }) {
  return { accountId: id, username, displayName: name ?? username };
}
