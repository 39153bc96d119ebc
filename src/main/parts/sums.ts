import { createSums } from '../../features/analytics/index.ts';
import { optional } from '../cli-values.ts';
import type { Noun } from '../core.ts';
import { EVERY } from '../part.ts';

const RUN_MS = 10 * EVERY.second;

const rebuild = {
  name: 'analytics rebuild',
  usage: 'analytics rebuild [--from DAY] [--to DAY]',
  options: ['from', 'to'],
};

/** Adds up facts, again and again, and for the operator anew (docs/guides/operating.md#analytics). */
export const sums: Noun = {
  commands: [rebuild],
  build({ db, clock, config, metrics, facts }) {
    const sums = createSums({ db, clock, facts, rawDays: config.ANALYTICS_RAW_DAYS });
    return {
      tasks() {
        metrics.sumsBehind(() => sums.behindSec());
        return [
          {
            name: 'sums',
            everyMs: RUN_MS,
            run: async () => {
              await sums.run();
            },
          },
        ];
      },
      commands: () => [
        {
          command: rebuild,
          async run(values) {
            const { days } = await sums.rebuild(optional(values, 'from'), optional(values, 'to'));
            const span =
              days.length === 1 ? `of ${days[0]}` : `of ${days.length} days, ${days[0]} to ${days.at(-1)}`;
            return { data: { days }, text: `made the sums ${span} anew from the facts` };
          },
        },
      ],
    };
  },
};
