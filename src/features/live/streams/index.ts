/**
 * Live streams: two independent flags, their events, and the sessions behind them (docs/concepts/streams.md#states).
 *
 * Terminology: the *signal* is an encoder that is connected (`hasSignal`); the *broadcast* is what viewers
 * see (`isLive`). A *session* is one signal with at most one broadcast; an *ingest session* is one encoder
 * connection, of which a session may have several.
 */
export { createAirtime } from './airtime.service.ts';
export { countEncoders, findBridgedTitle, lockBridgeTarget } from './bridges.repository.ts';
export { listBroadcasts } from './broadcasts.repository.ts';
export { emitRecordingReady } from './emit.ts';
export { streamDeleted, streamEvents, streamUpdated } from './events.ts';
export type { HealthSeries } from './health.service.ts';
export { createHealthSeries } from './health.service.ts';
export type { StreamDetails } from './lists.repository.ts';
export type { MediaNodes } from './nodes.service.ts';
export { createMediaNodes } from './nodes.service.ts';
export { hasPublicBroadcast } from './public.repository.ts';
export { stopRecording } from './repository.ts';
export { attachRestream, detachRestream } from './restreams.repository.ts';
export { streamRoutes } from './routes.ts';
export { livePlan } from './rules.ts';
export type { StreamLinks } from './schemas.ts';
export type { Streams } from './service.ts';
export { createStreams, STREAM_DELETED_TOPIC, STREAM_TOPIC } from './service.ts';
export type { StreamSignals } from './signal.service.ts';
export { createStreamSignals } from './signal.service.ts';
export type { SignalSimulations } from './simulation.service.ts';
export { createSignalSimulations } from './simulation.service.ts';
export { createStreamSnapshots } from './snapshot.service.ts';
export { createStreamStates } from './states.service.ts';
export { streamTailRoutes } from './tails.routes.ts';
export type { StreamTakedowns } from './takedown.service.ts';
export { createStreamTakedowns } from './takedown.service.ts';
export type { StreamTransitionHook } from './transitions.ts';
export type { Viewers } from './viewers.service.ts';
export { createViewers, VIEWER_FLUSH_MS } from './viewers.service.ts';
