import {
  createRestreamConsumers,
  createRestreamRuns,
  createRestreams,
  createRestreamTargets,
  type RestreamRuns,
  type Restreams,
  restreamRoutes,
} from '../../features/restreams/index.ts';
import { attachRestream, detachRestream, streamDeleted } from '../../features/streams/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

/** Restreams; what they send is the media role's. */
export function restreamsPart(base: Base): Built<{ restreams: Restreams; restreamRuns: RestreamRuns }> {
  const { cursors, clock } = base;
  const deps = { ...base, streams: { attach: attachRestream, detach: detachRestream } };
  const restreams = createRestreams(deps);
  const restreamRuns = createRestreamRuns(base);
  return {
    gives: { restreams, restreamRuns },
    part: {
      routes: () => restreamRoutes({ restreams, targets: createRestreamTargets(deps), cursors }),
      tasks: () => [{ name: 'restreams', everyMs: EVERY.second, run: () => restreamRuns.sweep() }],
      consumers: createRestreamConsumers({ clock, streams: { streamDeleted } }),
    },
  };
}
