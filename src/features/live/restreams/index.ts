/**
 * Restreams: a broadcast sent on to other platforms (docs/concepts/restreams.md, docs/decisions/restreams.md).
 *
 * Terminology: a *target* is one destination of a restream; a *run* of a restream lasts from its start to its stop,
 * whether or not anything can be sent; a *push* is what a node sends to one target.
 */
export type { restreamSnapshot } from './log.ts';
export type { Restreams } from './service.ts';
export type { syncWithStream } from './stream-sync.ts';
