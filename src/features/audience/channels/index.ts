/** Channels: the public profile and content of an account (docs/concepts/channels.md). */
export type { findChannel } from './repository.ts';
export type { displayNameOf } from './schemas.ts';
