import { createRollups } from '../../features/insight/analytics/index.ts';
import { optional } from '../cli-values.ts';
import type { OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';

const RUN_MS = 10 * INTERVALS.second;

const rebuild = {
  name: 'analytics rebuild',
  usage: 'analytics rebuild [--from DAY] [--to DAY]',
  options: ['from', 'to'],
};

/**
 * Builds the periodic rollups of usage events, and the operator's rebuild
 * (docs/guides/operations.md#analytics).
 */
export const analyticsRollups: OptionalModule = {
  commands: [rebuild],
  build({ db, clock, config, metrics, facts }) {
    const analyticsRollups = createRollups({ db, clock, facts, rawDays: config.ANALYTICS_RAW_DAYS });
    return {
      tasks() {
        metrics.sumsBehind(() => analyticsRollups.lagSec());
        return [
          {
            name: 'sums',
            everyMs: RUN_MS,
            run: async () => {
              await analyticsRollups.run();
            },
          },
        ];
      },
      commands: () => [
        {
          command: rebuild,
          async run(values) {
            const { days } = await analyticsRollups.rebuild(optional(values, 'from'), optional(values, 'to'));
            const span =
              days.length === 1 ? `of ${days[0]}` : `of ${days.length} days, ${days[0]} to ${days.at(-1)}`;
            return { data: { days }, text: `made the sums ${span} anew from the facts` };
          },
        },
      ],
    };
  },
};
