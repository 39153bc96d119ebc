/**
 * The tails of a stream: open connections that are shown what happens to it (docs/decisions/event-streams.md).
 *
 * Terminology: a *log* keeps what happened for a while (chat, status) and is resumed from; a *state* (viewers, health) is
 * only ever shown as it is now.
 */
export type { createStreamTails, FollowOptions, StreamStates, StreamTails } from './service.ts';
