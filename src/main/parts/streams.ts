import type { Recordings } from '../../features/recordings/index.ts';
import {
  createSignalSimulations,
  createStreamSignals,
  createStreams,
  type SignalSimulations,
  type StreamSignals,
  streamRoutes,
} from '../../features/streams/index.ts';
import { MINUTE_SEC } from '../../kernel/durations.ts';
import { createGuesses } from '../../platform/guesses.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';
import type { Addresses } from './addresses.ts';

const SWEEP_MS = 500;

interface Needs extends Base, Pick<Addresses, 'streamLinks'> {
  recordings: Recordings;
}

export function streamsPart(needs: Needs): Built<{ signals: StreamSignals; simulations: SignalSimulations }> {
  const { config, cursors, recordings: recorder, streamLinks: links } = needs;
  const streams = createStreams({ ...needs, recorder });
  const signals = createStreamSignals({
    ...needs,
    recorder,
    guesses: createGuesses(needs.caps(MINUTE_SEC), 'stream-key'),
    graceMs: config.SIGNAL_GRACE_MS,
  });
  const simulations = createSignalSimulations({ ...needs, streams });
  return {
    gives: { signals, simulations },
    part: {
      routes: () => streamRoutes({ streams, simulations, links, cursors }),
      tasks: () => [{ name: 'stream sweep', everyMs: SWEEP_MS, run: () => signals.sweep() }],
    },
  };
}
