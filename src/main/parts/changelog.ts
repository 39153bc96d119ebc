import type { Accounts } from '../../features/accounts/index.ts';
import { type Changelog, changelogRoutes, createChangelog } from '../../features/changelog/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

export function changelogPart(base: Base & { accounts: Accounts }): Built<{ changelog: Changelog }> {
  const changelog = createChangelog(base);
  return {
    gives: { changelog },
    part: {
      routes: () => changelogRoutes({ changelog, cursors: base.cursors }),
      migrated: () => changelog.see(),
      tasks: () => [
        { name: 'new releases', everyMs: EVERY.minute, run: () => changelog.tell() },
        { name: 'uses of deprecated endpoints', everyMs: EVERY.hour, run: () => changelog.tellUses() },
      ],
    },
  };
}
