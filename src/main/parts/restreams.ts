import {
  createRestreamConsumers,
  createRestreamRuns,
  createRestreams,
  createRestreamTargets,
  type RestreamRuns,
  type Restreams,
  restreamRoutes,
} from '../../features/live/restreams/index.ts';
import { attachRestream, detachRestream, streamDeleted } from '../../features/live/streams/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

/** Builds the restreams; the media role sends them. */
export function restreamsPart(
  base: BaseContext,
): ModuleWithExports<{ restreams: Restreams; restreamRuns: RestreamRuns }> {
  const { cursors, clock } = base;
  const deps = { ...base, streams: { attach: attachRestream, detach: detachRestream } };
  const restreams = createRestreams(deps);
  const restreamRuns = createRestreamRuns(base);
  return {
    exports: { restreams, restreamRuns },
    module: {
      routes: () => restreamRoutes({ restreams, targets: createRestreamTargets(deps), cursors }),
      tasks: () => [{ name: 'restreams', everyMs: INTERVALS.second, run: () => restreamRuns.sweep() }],
      consumers: createRestreamConsumers({ clock, streams: { streamDeleted } }),
    },
  };
}
