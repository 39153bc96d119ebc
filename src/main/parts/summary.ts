import { mergeCounterRows, recount, summaryRoutes } from '../../features/insight/summary/index.ts';
import type { OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';

const counts = { name: 'counts check', usage: 'counts check' };

/** Builds the summary counts, and a total for the operator (docs/guides/operations.md#counts). */
export const summary: OptionalModule = {
  commands: [counts],
  build: (core) => ({
    routes: () => summaryRoutes(core),
    tasks: () => [{ name: 'kept counts', everyMs: INTERVALS.minute, run: () => mergeCounterRows(core.db) }],
    commands: () => [
      {
        command: counts,
        async run() {
          const corrections = await recount(core.db);
          const lines = corrections.map(
            ({ workspaceId, name, amount }) => `${workspaceId} ${name} was ${-amount} too high`,
          );
          return {
            data: { corrections },
            text: lines.length === 0 ? 'every count is right' : `corrected:\n${lines.join('\n')}`,
          };
        },
      },
    ],
  }),
};
