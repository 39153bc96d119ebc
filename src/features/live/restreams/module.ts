import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { attachRestream, detachRestream, streamDeleted } from '../streams/index.ts';
import { createRestreamConsumers } from './consumers.ts';
import { restreamEvents } from './events.ts';
import { restreamRoutes } from './routes.ts';
import { createRestreamRuns, type RestreamRuns } from './runs.service.ts';
import { createRestreams, type Restreams } from './service.ts';
import { createRestreamTargets } from './targets.service.ts';

export { RESTREAM_TOPIC } from './locked.ts';
export { restreamSnapshot } from './log.ts';
export { syncWithStream } from './stream-sync.ts';

export const restreamsDeclarations: Declarations = { events: restreamEvents };

interface RestreamsDeps
  extends Pick<Platform, 'bus' | 'clock' | 'cursors' | 'db' | 'events' | 'fetcher' | 'log' | 'secrets'> {
  attachRestream: typeof attachRestream;
  detachRestream: typeof detachRestream;
  streamDeleted: typeof streamDeleted;
}

/** Builds the restreams; the media role sends them. */
export function createRestreamsModule(
  deps: RestreamsDeps,
): FeatureModule & { restreams: Restreams; restreamRuns: RestreamRuns } {
  const { cursors, clock } = deps;
  const shared = { ...deps, streams: { attach: deps.attachRestream, detach: deps.detachRestream } };
  const restreams = createRestreams(shared);
  const restreamRuns = createRestreamRuns(deps);
  return {
    restreams,
    restreamRuns,
    routes: () => restreamRoutes({ restreams, targets: createRestreamTargets(shared), cursors }),
    tasks: () => [{ name: 'restreams', everyMs: INTERVALS.second, run: () => restreamRuns.sweep() }],
    consumers: createRestreamConsumers({ clock, streams: deps }),
  };
}
