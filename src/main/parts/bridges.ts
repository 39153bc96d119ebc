import {
  type BridgeRuns,
  bridgeRoutes,
  createBridgeRuns,
  createBridges,
} from '../../features/bridges/index.ts';
import type { RoomGuests } from '../../features/rooms/index.ts';
import {
  countEncoders,
  findBridgedTitle,
  lockBridgeTarget,
  type StreamSignals,
} from '../../features/streams/index.ts';
import type { RoomEngine } from '../../media/contract/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

interface Needs extends Base {
  signals: StreamSignals;
  roomGuests: RoomGuests;
  roomEngine(): RoomEngine;
}

/** Bridges; what they fetch is the media role's. */
export function bridgesPart(needs: Needs): Built<{ bridgeRuns: BridgeRuns }> {
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
    gives: { bridgeRuns },
    part: {
      routes: () => bridgeRoutes({ bridges, cursors }),
      tasks: () => [{ name: 'bridges', everyMs: EVERY.second, run: () => bridgeRuns.sweep() }],
    },
  };
}
