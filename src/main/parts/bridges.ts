import {
  type BridgeRuns,
  bridgeRoutes,
  createBridgeRuns,
  createBridges,
} from '../../features/live/bridges/index.ts';
import {
  countEncoders,
  findBridgedTitle,
  lockBridgeTarget,
  type StreamSignals,
} from '../../features/live/streams/index.ts';
import type { BridgeParticipants } from '../../features/rooms/index.ts';
import type { RoomEngine } from '../../media/contract/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

interface Needs extends BaseContext {
  signals: StreamSignals;
  roomGuests: BridgeParticipants;
  roomEngine(): RoomEngine;
}

/** Builds the bridges; the media role fetches their sources. */
export function bridgesPart(needs: Needs): ModuleWithExports<{ bridgeRuns: BridgeRuns }> {
  const { cursors, signals, db, roomGuests: rooms, roomEngine } = needs;
  const bridges = createBridges({
    ...needs,
    rooms,
    streams: { lockTarget: lockBridgeTarget, countEncoders },
    bridgesRooms: () => roomEngine().caps.bridges,
  });
  const bridgeRuns = createBridgeRuns({
    ...needs,
    rooms,
    titleOf: (streamId) => findBridgedTitle(db, streamId),
    admit: (streamId) => signals.admitBridge(streamId),
  });
  return {
    exports: { bridgeRuns },
    module: {
      routes: () => bridgeRoutes({ bridges, cursors }),
      tasks: () => [{ name: 'bridges', everyMs: INTERVALS.second, run: () => bridgeRuns.sweep() }],
    },
  };
}
