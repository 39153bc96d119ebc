import { STREAM_LOG_TOPIC } from '../../events/stream-log.ts';
import type { Recordings } from '../../features/recordings/index.ts';
import { followStream, restreamSnapshot } from '../../features/restreams/index.ts';
import { createStreamTails, type StreamTails } from '../../features/stream-tails/index.ts';
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
} from '../../features/streams/index.ts';
import { assertOwnTiers } from '../../features/tiers/index.ts';
import { endWhipSessionsOf } from '../../features/whip/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';
import type { Addresses } from './addresses.ts';

const SWEEP_MS = 500;

interface Needs extends Base, Pick<Addresses, 'streamLinks'> {
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

export function streamsPart(needs: Needs): Built<Gives> {
  const { config, clock, cursors, recordings: recorder, streamLinks: links } = needs;
  const follower = { flagsChanged: followStream };
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
    gives: { signals, simulations, healthSeries, streams, streamTails: tails, streamTakedowns },
    part: {
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
        { name: 'time on air', everyMs: EVERY.minute, run: () => airtime.run() },
        { name: 'old health', everyMs: EVERY.minute, run: () => healthSeries.forget() },
        { name: 'log of the streams', everyMs: EVERY.minute, run: () => tails.prune() },
      ],
    },
  };
}
