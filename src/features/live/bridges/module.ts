/**
 * Bridges: media from a source into a target (docs/concepts/bridges.md, docs/decisions/bridges.md).
 *
 * Terminology: a *source* is the media that is pulled; a *run* is one attempt of a node to deliver it to the
 * *target*.
 */

import type { RoomEngine } from '../../../media/contract/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { BridgeParticipants } from '../../rooms/index.ts';
import type { countEncoders, findBridgedTitle, lockBridgeTarget, StreamSignals } from '../streams/index.ts';
import { bridgeEvents } from './events.ts';
import { bridgeRoutes } from './routes.ts';
import { type BridgeRuns, createBridgeRuns } from './runs.service.ts';
import { createBridges } from './service.ts';

export { BRIDGE_TOPIC } from './service.ts';

export const bridgesDeclarations: Declarations = { events: bridgeEvents };

interface BridgesDeps
  extends Pick<Platform, 'bus' | 'clock' | 'cursors' | 'db' | 'events' | 'fetcher' | 'log' | 'secrets'> {
  roomEngine(): RoomEngine;
  bridgeParticipants: BridgeParticipants;
  signals: StreamSignals;
  countEncoders: typeof countEncoders;
  findBridgedTitle: typeof findBridgedTitle;
  lockBridgeTarget: typeof lockBridgeTarget;
}

/** Builds the bridges; the media role fetches their sources. */
export function createBridgesModule(deps: BridgesDeps): FeatureModule & { bridgeRuns: BridgeRuns } {
  const { cursors, signals, db, bridgeParticipants: rooms, roomEngine } = deps;
  const bridges = createBridges({
    ...deps,
    rooms,
    streams: { lockTarget: deps.lockBridgeTarget, countEncoders: deps.countEncoders },
    bridgesRooms: () => roomEngine().caps.bridges,
  });
  const bridgeRuns = createBridgeRuns({
    ...deps,
    rooms,
    titleOf: (streamId) => deps.findBridgedTitle(db, streamId),
    admit: (streamId) => signals.admitBridge(streamId),
  });
  return {
    bridgeRuns,
    routes: () => bridgeRoutes({ bridges, cursors }),
    tasks: () => [{ name: 'bridges', everyMs: INTERVALS.second, run: () => bridgeRuns.sweep() }],
  };
}
