import {
  createNoRecorder,
  createRoomEntrance,
  createRoomModeration,
  createRoomRelay,
  createRoomSweep,
  createRooms,
  createRoomTokens,
  type Rooms,
  roomGatewayPage,
  roomJoinPage,
  roomRoutes,
} from '../../features/rooms/index.ts';
import { createOwnOrigin } from '../../http/own-origin.ts';
import type { RoomEngine } from '../../media/contract/index.ts';
import { openRoomEngine } from '../../media/rooms/open.ts';
import { createIceServers } from '../../media/rooms/turn.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

export interface RoomsPart {
  rooms: Rooms;
  /** What carries the rooms of this process; made when it is asked for first. */
  roomEngine(): RoomEngine;
}

export function roomsPart(base: Base): Built<RoomsPart> {
  const { config, clock, cursors, log, platformHosts: hosts, roomChoice: choice } = base;
  const { PUBLIC_URL: publicUrl } = config;
  const relay = createRoomRelay(base);
  let engine: RoomEngine | null = null;
  const roomEngine = () => {
    engine ??= openRoomEngine({ choice, config, relay: relay.signals, log });
    return engine;
  };
  const deps = {
    ...base,
    engineMax: () => roomEngine().caps.maxParticipants,
    recorder: createNoRecorder(roomEngine),
    tokens: createRoomTokens(base),
  };
  const rooms = createRooms(deps);
  const moderation = createRoomModeration(deps);
  const sweep = createRoomSweep(deps);
  const isOwnOrigin = createOwnOrigin({ publicUrl, hosts });
  return {
    gives: { rooms, roomEngine },
    part: {
      routes: () => roomRoutes({ rooms, moderation, cursors, publicUrl }),
      pages: () => [
        roomJoinPage({ ...base, rooms, isOwnOrigin, publicUrl }),
        roomGatewayPage({
          ...deps,
          ...{ rooms, moderation, relay, isOwnOrigin },
          entrance: createRoomEntrance(deps),
          engine: roomEngine(),
          iceServers: createIceServers({ urls: config.TURN_URLS, secret: config.TURN_SECRET, clock }),
        }),
      ],
      tasks: () => [{ name: 'rooms', everyMs: EVERY.second, run: () => sweep.run() }],
      close: () => engine?.close(),
    },
  };
}
