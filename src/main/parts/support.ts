import { createSupport, supportEvents, supportRoutes } from '../../features/support/index.ts';
import type { Noun } from '../core.ts';
import { EVERY } from '../part.ts';
import { supportCommands, supportRunners } from './support-commands.ts';

export const support: Noun = {
  events: supportEvents,
  commands: supportCommands,
  build(core) {
    const support = createSupport(core);
    return {
      routes: () => supportRoutes({ support, cursors: core.cursors }),
      tasks: () => [{ name: 'resolved tickets', everyMs: EVERY.hour, run: () => support.closeResolved() }],
      commands: () => supportRunners({ support, accounts: core.accounts }),
    };
  },
};
