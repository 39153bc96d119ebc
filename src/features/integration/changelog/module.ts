/** API releases: their changes, the notifications about them, and the deprecation of endpoints. */

import type { Accounts } from '../../identity/accounts/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { changelogEvents } from './events.ts';
import { changelogRoutes } from './routes.ts';
import { type Changelog, createChangelog } from './service.ts';

export { RELEASES } from './releases.ts';

export const changelogDeclarations: Declarations = { events: changelogEvents };

interface ChangelogDeps extends Pick<Platform, 'clock' | 'cursors' | 'db' | 'events' | 'log' | 'releases'> {
  accounts: Accounts;
}

export function createChangelogModule(deps: ChangelogDeps): FeatureModule & { changelog: Changelog } {
  const changelog = createChangelog(deps);
  return {
    changelog,
    routes: () => changelogRoutes({ changelog, cursors: deps.cursors }),
    onMigrated: () => changelog.see(),
    tasks: () => [
      { name: 'release announcements', everyMs: INTERVALS.minute, run: () => changelog.tell() },
      { name: 'deprecated endpoint usage', everyMs: INTERVALS.hour, run: () => changelog.tellUses() },
    ],
  };
}
