import { STREAM_LOG_TOPIC } from '../../../events/stream-log.ts';
import { startSchedule } from '../../../jobs/schedule.ts';
import type { SnapshotSource } from '../../../kernel/snapshots.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { StreamSnapshot } from '../../audience/playback/index.ts';
import type { Salts, ViewerFingerprints } from '../../audience/viewer-fingerprints/index.ts';
import type { assertOwnTiers } from '../../commerce/tiers/index.ts';
import { type Declarations, type FeatureModule, INTERVALS, type Service } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Recordings } from '../recordings/index.ts';
import type { restreamSnapshot, syncWithStream } from '../restreams/index.ts';
import type { createStreamTails, StreamTails } from '../stream-tails/index.ts';
import type { endWhipSessionsOf } from '../whip/index.ts';
import { createAirtime } from './airtime.service.ts';
import { streamEvents } from './events.ts';
import { createHealthSeries, type HealthSeries } from './health.service.ts';
import { streamRoutes } from './routes.ts';
import type { StreamLinks } from './schemas.ts';
import { createStreams, STREAM_DELETED_TOPIC, STREAM_TOPIC, type Streams } from './service.ts';
import { createStreamSignals, type StreamSignals } from './signal.service.ts';
import { createSignalSimulations, type SignalSimulations } from './simulation.service.ts';
import { createStreamSnapshots } from './snapshot.service.ts';
import { createStreamStates } from './states.service.ts';
import { streamTailRoutes } from './tails.routes.ts';
import { createStreamTakedowns, type StreamTakedowns } from './takedown.service.ts';
import { createViewers, VIEWER_FLUSH_MS, type Viewers } from './viewers.service.ts';

export { countEncoders, findBridgedTitle, lockBridgeTarget } from './bridges.repository.ts';
export { listBroadcasts } from './broadcasts.repository.ts';
export { emitRecordingReady } from './emit.ts';
export { streamDeleted, streamUpdated } from './events.ts';
export { createMediaNodes } from './nodes.service.ts';
export { hasPublicBroadcast } from './public.repository.ts';
export { stopRecording } from './repository.ts';
export { attachRestream, detachRestream } from './restreams.repository.ts';
export { livePlan } from './rules.ts';
export { STREAM_DELETED_TOPIC, STREAM_TOPIC } from './service.ts';

export const streamsDeclarations: Declarations = { events: streamEvents };

interface StreamsDeps
  extends Pick<
    Platform,
    'bus' | 'clock' | 'config' | 'cursors' | 'db' | 'events' | 'facts' | 'log' | 'secrets'
  > {
  recordings: Recordings;
  arrivals: ViewerFingerprints;
  salts: Salts;
  streamLinks: StreamLinks;
  assertOwnTiers: typeof assertOwnTiers;
  restreamSnapshot: typeof restreamSnapshot;
  syncWithStream: typeof syncWithStream;
  createStreamTails: typeof createStreamTails;
  endWhipSessionsOf: typeof endWhipSessionsOf;
}

const SWEEP_MS = 500;

interface StreamsExports {
  signals: StreamSignals;
  simulations: SignalSimulations;
  healthSeries: HealthSeries;
  streams: Streams;
  streamSnapshots: SnapshotSource<StreamSnapshot>;
  streamTails: StreamTails;
  streamTakedowns: StreamTakedowns;
  viewers: Viewers;
}

export function createStreamsModule(deps: StreamsDeps): FeatureModule & StreamsExports {
  const { restreamSnapshot, syncWithStream, createStreamTails, endWhipSessionsOf } = deps;
  const { config, clock, cursors, recordings: recorder, streamLinks: links } = deps;
  const follower = { flagsChanged: syncWithStream };
  const endWhip = endWhipSessionsOf;
  const streams = createStreams({ ...deps, recorder, follower, endWhip });
  const signals = createStreamSignals({
    ...deps,
    recorder,
    follower,
    graceMs: config.SIGNAL_GRACE_MS,
  });
  const streamTakedowns = createStreamTakedowns({ ...deps, recorder, follower, endWhip });
  const simulations = createSignalSimulations({ ...deps, streams });
  const airtime = createAirtime(deps);
  const healthSeries = createHealthSeries({ ...deps, streams });
  const states = createStreamStates(deps);
  const viewers = createViewers(deps);
  const tails = createStreamTails({
    ...deps,
    states,
    topics: [STREAM_TOPIC, STREAM_LOG_TOPIC],
    deletedTopic: STREAM_DELETED_TOPIC,
  });
  return {
    signals,
    simulations,
    healthSeries,
    streams,
    streamSnapshots: createStreamSnapshots(deps),
    streamTails: tails,
    streamTakedowns,
    viewers,
    routes: () => [
      ...streamRoutes({ streams, simulations, healthSeries, links, cursors }),
      ...streamTailRoutes({
        streams,
        tails,
        states,
        restreams: (streamId) => restreamSnapshot(deps, streamId),
        clock,
      }),
    ],
    services: { api: () => countViewers(viewers, deps.log) },
    tasks: () => [
      { name: 'stream sweep', everyMs: SWEEP_MS, run: () => signals.sweep() },
      { name: 'stream airtime', everyMs: INTERVALS.minute, run: () => airtime.run() },
      { name: 'stream health cleanup', everyMs: INTERVALS.minute, run: () => healthSeries.forget() },
      { name: 'stream log cleanup', everyMs: INTERVALS.minute, run: () => tails.prune() },
      { name: 'viewer salts', everyMs: INTERVALS.hour, run: () => viewers.forget() },
    ],
  };
}

/** Writes the viewers of this process while it runs. */
function countViewers(viewers: Viewers, log: Logger): Service {
  const task = { name: 'viewer counts', everyMs: VIEWER_FLUSH_MS, run: () => viewers.flush() };
  const schedule = startSchedule([task], log);
  return {
    stop: () => schedule.stop(),
    dispose: () =>
      viewers
        .flush()
        .catch((error: unknown) => log.warn({ err: error }, 'the last viewer counts could not be stored')),
  };
}
