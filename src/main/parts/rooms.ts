import {
  createRoomAssembly,
  createRoomEntrance,
  createRoomModeration,
  createRoomRecordingReady,
  createRoomRecordings,
  createRoomRelay,
  createRoomSweep,
  createRooms,
  createRoomTokens,
  lobbyPage,
  type RoomRecordings,
  type Rooms,
  roomGatewayPage,
  roomJoinPage,
  roomRoutes,
} from '../../features/rooms/index.ts';
import type { VideoIntake } from '../../features/videos/index.ts';
import { createOwnOrigin } from '../../http/own-origin.ts';
import type { RoomEngine } from '../../media/contract/index.ts';
import { createRoomComposer } from '../../media/rooms/compose/composer.ts';
import { openRoomEngine } from '../../media/rooms/open.ts';
import { createIceServers } from '../../media/rooms/turn.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

export interface RoomsPart {
  rooms: Rooms;
  roomRecordings: RoomRecordings;
  /** What carries the rooms of this process; made when it is asked for first. */
  roomEngine(): RoomEngine;
}

export function roomsPart(base: Base & { intake: VideoIntake }): Built<RoomsPart> {
  const { config, clock, cursors, jobs, log, platformHosts: hosts, roomChoice: choice } = base;
  const { PUBLIC_URL: publicUrl } = config;
  const relay = createRoomRelay(base);
  let engine: RoomEngine | null = null;
  const roomEngine = () => {
    engine ??= openRoomEngine({ choice, config, relay: relay.signals, log });
    return engine;
  };
  const engineMax = () => roomEngine().caps.maxParticipants;
  const recordings = createRoomRecordings({ ...base, queue: jobs, engine: roomEngine, engineMax });
  const deps = {
    ...base,
    engineMax,
    recorder: recordings.recorder,
    tokens: createRoomTokens(base),
  };
  const rooms = createRooms(deps);
  const moderation = createRoomModeration(deps);
  const sweep = createRoomSweep(deps);
  const isOwnOrigin = createOwnOrigin({ publicUrl, hosts });
  return {
    gives: { rooms, roomEngine, roomRecordings: recordings },
    part: {
      routes: () => roomRoutes({ rooms, moderation, cursors, publicUrl }),
      pages: ({ assets }) => [
        lobbyPage({ rooms, assets, publicUrl, connectOrigins: [] }),
        roomJoinPage({ ...base, rooms, isOwnOrigin, publicUrl }),
        roomGatewayPage({
          ...deps,
          ...{ rooms, moderation, relay, isOwnOrigin },
          entrance: createRoomEntrance(deps),
          engine: roomEngine(),
          iceServers: createIceServers({ urls: config.TURN_URLS, secret: config.TURN_SECRET, clock }),
        }),
      ],
      jobs: () => [createRoomAssembly({ ...base, composer: composerOf(base) })],
      tasks: () => [
        { name: 'rooms', everyMs: EVERY.second, run: () => sweep.run() },
        { name: 'recordings of rooms', everyMs: EVERY.hour, run: () => recordings.sweep() },
      ],
      close: () => engine?.close(),
    },
  };
}

function composerOf({ config, guard, encoderThreads, log }: Base) {
  const { FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe } = config;
  return createRoomComposer({ ffmpeg, ffprobe, guard, threads: encoderThreads, log });
}

/** A recording of a room is told of when its video can be played. */
export function roomRecordingReady({ clock }: Base) {
  return createRoomRecordingReady({ clock });
}
