import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { StreamSignals } from '../streams/index.ts';
import type { IceServer } from './ice-links.ts';
import { createWhip, type Whip } from './service.ts';
import { whipPages } from './whip.pages.ts';

export { iceLinks } from './ice-links.ts';
export { endSessionsOf as endWhipSessionsOf } from './repository.ts';
export { trackWhipAvailability, WHIP_TOPIC } from './service.ts';

interface WhipDeps extends Pick<Platform, 'bus' | 'clock' | 'db' | 'events'> {
  signals: StreamSignals;
  iceServers(): IceServer[];
  takesWhip(): boolean;
}

/** Builds publishing by WebRTC; the media role receives the media. */
export function createWhipModule(deps: WhipDeps): FeatureModule & { whip: Whip } {
  const { signals, takesWhip: isThere } = deps;
  const whip = createWhip({
    ...deps,
    isThere,
    authorise: (request) => signals.authorise(request),
    admitOffer: (change, grant) => signals.admitOffer(change, grant),
    admit: (streamId) => signals.admitEncoder(streamId),
  });
  return {
    whip,
    pages: () => [whipPages({ whip, iceServers: deps.iceServers })],
    tasks: () => [{ name: 'WHIP offers', everyMs: INTERVALS.minute, run: () => whip.sweep() }],
  };
}
