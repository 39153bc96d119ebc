/**
 * Recordings: the video of a broadcast (docs/concepts/streams.md, docs/decisions/recordings.md).
 *
 * Terminology: a *part* is one file of a recorder, from one encoder connection; a *recording* is the parts of one
 * stream session, from the start of its broadcast to the stop.
 */
export type { Recordings } from './recordings.service.ts';
