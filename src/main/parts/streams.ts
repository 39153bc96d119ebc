import { STREAM_LOG_TOPIC } from '../../events/stream-log.ts';
import { assertOwnTiers } from '../../features/commerce/tiers/index.ts';
import type { Recordings } from '../../features/live/recordings/index.ts';
import { restreamSnapshot, syncWithStream } from '../../features/live/restreams/index.ts';
import { createStreamTails, type StreamTails } from '../../features/live/stream-tails/index.ts';
import {
  createAirtime,
  createHealthSeries,
  createSignalSimulations,
  createStreamSignals,
  createStreamStates,
  createStreams,
  createStreamTakedowns,
  type HealthSeries,
  type SignalSimulations,
  STREAM_DELETED_TOPIC,
  STREAM_TOPIC,
  type StreamSignals,
  type Streams,
  type StreamTakedowns,
  streamRoutes,
  streamTailRoutes,
} from '../../features/live/streams/index.ts';
import { endWhipSessionsOf } from '../../features/live/whip/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';
import type { PlaybackUrls } from './addresses.ts';

const SWEEP_MS = 500;

interface Needs extends BaseContext, Pick<PlaybackUrls, 'streamLinks'> {
  recordings: Recordings;
}

interface Gives {
  signals: StreamSignals;
  simulations: SignalSimulations;
  healthSeries: HealthSeries;
  streams: Streams;
  streamTails: StreamTails;
  streamTakedowns: StreamTakedowns;
}

export function streamsPart(needs: Needs): ModuleWithExports<Gives> {
  const { config, clock, cursors, recordings: recorder, streamLinks: links } = needs;
  const follower = { flagsChanged: syncWithStream };
  const endWhip = endWhipSessionsOf;
  const streams = createStreams({ ...needs, recorder, follower, assertOwnTiers, endWhip });
  const signals = createStreamSignals({
    ...needs,
    recorder,
    follower,
    graceMs: config.SIGNAL_GRACE_MS,
  });
  const streamTakedowns = createStreamTakedowns({ ...needs, recorder, follower, endWhip });
  const simulations = createSignalSimulations({ ...needs, streams });
  const airtime = createAirtime(needs);
  const healthSeries = createHealthSeries({ ...needs, streams });
  const states = createStreamStates(needs);
  const tails = createStreamTails({
    ...needs,
    states,
    topics: [STREAM_TOPIC, STREAM_LOG_TOPIC],
    deletedTopic: STREAM_DELETED_TOPIC,
  });
  return {
    exports: { signals, simulations, healthSeries, streams, streamTails: tails, streamTakedowns },
    module: {
      routes: () => [
        ...streamRoutes({ streams, simulations, healthSeries, links, cursors }),
        ...streamTailRoutes({
          streams,
          tails,
          states,
          restreams: (streamId) => restreamSnapshot(needs, streamId),
          clock,
        }),
      ],
      tasks: () => [
        { name: 'stream sweep', everyMs: SWEEP_MS, run: () => signals.sweep() },
        { name: 'time on air', everyMs: INTERVALS.minute, run: () => airtime.run() },
        { name: 'old health', everyMs: INTERVALS.minute, run: () => healthSeries.forget() },
        { name: 'log of the streams', everyMs: INTERVALS.minute, run: () => tails.prune() },
      ],
    },
  };
}
