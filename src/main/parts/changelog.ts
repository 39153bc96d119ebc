import type { Accounts } from '../../features/identity/accounts/index.ts';
import {
  type Changelog,
  changelogRoutes,
  createChangelog,
} from '../../features/integration/changelog/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function changelogPart(
  base: BaseContext & { accounts: Accounts },
): ModuleWithExports<{ changelog: Changelog }> {
  const changelog = createChangelog(base);
  return {
    exports: { changelog },
    module: {
      routes: () => changelogRoutes({ changelog, cursors: base.cursors }),
      onMigrated: () => changelog.see(),
      tasks: () => [
        { name: 'new releases', everyMs: INTERVALS.minute, run: () => changelog.tell() },
        { name: 'uses of deprecated endpoints', everyMs: INTERVALS.hour, run: () => changelog.tellUses() },
      ],
    },
  };
}
