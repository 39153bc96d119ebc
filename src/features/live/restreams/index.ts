/**
 * Restreams: a broadcast sent on to other platforms (docs/concepts/restreams.md, docs/decisions/restreams.md).
 *
 * Terminology: a *target* is one destination of a restream; a *run* of a restream lasts from its start to its stop,
 * whether or not anything can be sent; a *push* is what a node sends to one target.
 */
export { createRestreamConsumers } from './consumers.ts';
export { restreamEvents } from './events.ts';
export { RESTREAM_TOPIC, type RestreamedStreams } from './locked.ts';
export { restreamSnapshot } from './log.ts';
export { restreamRoutes } from './routes.ts';
export { createRestreamRuns, type RestreamRuns } from './runs.service.ts';
export type { Restreams } from './service.ts';
export { createRestreams } from './service.ts';
export { syncWithStream } from './stream-sync.ts';
export { createRestreamTargets } from './targets.service.ts';
