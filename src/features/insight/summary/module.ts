import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { mergeCounterRows, recount } from './repository.ts';
import { summaryRoutes } from './routes.ts';

export { videoMs } from './repository.ts';

type SummaryDeps = Pick<Platform, 'clock' | 'db'>;

const counts = { name: 'counts check', usage: 'counts check' };

export const summaryDeclarations: Declarations = { commands: [counts] };

/** Builds the summary counts, and their check by the operator (docs/guides/operations.md#counts). */
export function createSummaryModule(deps: SummaryDeps): FeatureModule {
  return {
    routes: () => summaryRoutes(deps),
    tasks: () => [
      { name: 'summary counts', everyMs: INTERVALS.minute, run: () => mergeCounterRows(deps.db) },
    ],
    commands: () => [
      {
        command: counts,
        async run() {
          const corrections = await recount(deps.db);
          const lines = corrections.map(
            ({ workspaceId, name, amount }) => `${workspaceId} ${name} was ${-amount} too high`,
          );
          return {
            data: { corrections },
            text: lines.length === 0 ? 'all counts are correct' : `corrected:\n${lines.join('\n')}`,
          };
        },
      },
    ],
  };
}
