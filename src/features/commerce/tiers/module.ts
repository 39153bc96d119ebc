import { getWorkspaceOwner, workspaceOf } from '../../../platform/db/workspace.ts';
import type { Accounts } from '../../identity/accounts/index.ts';
import type { Declarations, FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { tierEvents } from './events.ts';
import { tierRoutes } from './routes.ts';
import { createTiers, type TierCapacity, type Tiers, tierCapacity } from './service.ts';

export { assertOwnTiers } from './assert-own-tiers.ts';
export { tierUpdated } from './events.ts';

export const tiersDeclarations: Declarations = { events: tierEvents };

interface TiersDeps extends Pick<Platform, 'clock' | 'cursors' | 'db' | 'events'> {
  accounts: Accounts;
}

export function createTiersModule(
  deps: TiersDeps,
): FeatureModule & { tiers: Tiers; tierCapacity: TierCapacity } {
  const { accounts, cursors, db } = deps;
  const tiers = createTiers({
    ...deps,
    creatorOf: async (accountId) => toCreator(await accounts.byId(accountId)),
    creatorNamed: async (username) => toCreator(await accounts.byUsername(username)),
    workspaceOf: (accountId, mode) => workspaceOf(db, accountId, mode),
    ownerOf: (workspaceId) => getWorkspaceOwner(db, workspaceId),
  });
  return {
    tiers,
    tierCapacity,
    routes: () => tierRoutes({ tiers, cursors }),
  };
}

function toCreator({ id, username, name }: { id: string; username: string; name: string | null }) {
  return { accountId: id, username, displayName: name ?? username };
}
