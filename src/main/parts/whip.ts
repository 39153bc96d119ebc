import type { StreamSignals } from '../../features/live/streams/index.ts';
import { createWhip, type Whip, whipPages } from '../../features/live/whip/index.ts';
import { createIceServers } from '../../media/rooms/turn.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';
import type { PlaybackUrls } from './addresses.ts';

/** Builds publishing by WebRTC; the media role receives the media. */
export function whipPart(
  needs: BaseContext & Pick<PlaybackUrls, 'takesWhip'> & { signals: StreamSignals },
): ModuleWithExports<{ whip: Whip }> {
  const { config, clock, signals, takesWhip: isThere } = needs;
  const whip = createWhip({
    ...needs,
    isThere,
    authorise: (request) => signals.authorise(request),
    admitOffer: (change, grant) => signals.admitOffer(change, grant),
    admit: (streamId) => signals.admitEncoder(streamId),
  });
  const iceServers = createIceServers({ urls: config.TURN_URLS, secret: config.TURN_SECRET, clock });
  return {
    exports: { whip },
    module: {
      pages: () => [whipPages({ whip, iceServers })],
      tasks: () => [{ name: 'offers by WHIP', everyMs: INTERVALS.minute, run: () => whip.sweep() }],
    },
  };
}
