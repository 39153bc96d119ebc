/**
 * Live streams: two independent flags, their events, and the sessions behind them (docs/concepts/streams.md#states).
 *
 * Terminology: the *signal* is an encoder that is connected (`hasSignal`); the *broadcast* is what viewers
 * see (`isLive`). A *session* is one signal with at most one broadcast; an *ingest session* is one encoder
 * connection, of which a session may have several.
 */
export type { countEncoders, findBridgedTitle, lockBridgeTarget } from './bridges.repository.ts';
export type { listBroadcasts } from './broadcasts.repository.ts';
export type { emitRecordingReady } from './emit.ts';
export type { streamDeleted, streamUpdated } from './events.ts';
export type { HealthSeries } from './health.service.ts';
export type { StreamDetails } from './lists.repository.ts';
export type { MediaNodes } from './nodes.service.ts';
export type { hasPublicBroadcast } from './public.repository.ts';
export type { stopRecording } from './repository.ts';
export type { attachRestream, detachRestream } from './restreams.repository.ts';
export type { livePlan } from './rules.ts';
export type { StreamLinks } from './schemas.ts';
export type { Streams } from './service.ts';
export type { StreamSignals } from './signal.service.ts';
export type { Viewers } from './viewers.service.ts';
