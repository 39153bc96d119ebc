import {
  type BridgeParticipants,
  createAttendance,
  createRoomAdmission,
  createRoomAssembly,
  createRoomGuests,
  createRoomModeration,
  createRoomRecordingReady,
  createRoomRecordings,
  createRoomRelay,
  createRoomSweep,
  createRooms,
  createRoomTokens,
  lobbyPage,
  ROOM_RECORDER_TOPIC,
  type RoomRecordings,
  type Rooms,
  roomEngineWebhookPage,
  roomGatewayPage,
  roomJoinPage,
  roomRoutes,
} from '../../features/rooms/index.ts';
import type { VideoIntake } from '../../features/video/videos/index.ts';
import { createSameOriginCheck } from '../../http/same-origin.ts';
import type { RoomEngine } from '../../media/contract/index.ts';
import { createRoomComposer } from '../../media/rooms/compose/composer.ts';
import type { RoomChangeNotifier } from '../../media/rooms/livekit/engine.ts';
import { createIceServers } from '../../media/rooms/turn.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export interface RoomsPart {
  rooms: Rooms;
  roomRecordings: RoomRecordings;
  roomGuests: BridgeParticipants;
  /** Returns the room engine of this process, created on first use. */
  roomEngine(): RoomEngine;
}

export function roomsPart(base: BaseContext & { intake: VideoIntake }): ModuleWithExports<RoomsPart> {
  const { config, clock, bus, cursors, jobs, log, openRoomEngine } = base;
  const { PUBLIC_URL: publicUrl } = config;
  const relay = createRoomRelay(base);
  const hints: RoomChangeNotifier = {
    tell: (ref) => bus.publish(ENGINE_TOPIC, ref),
    listen: (listener) => void bus.subscribe(ENGINE_TOPIC, listener),
  };
  const isRecorded = watchRecorders(base);
  let engine: RoomEngine | null = null;
  const roomEngine = () => {
    engine ??= openRoomEngine({ relay: relay.signals, hints, isRecorded, clock, log });
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
  const attendance = createAttendance(base);
  const isOwnOrigin = createSameOriginCheck(config);
  return {
    exports: { rooms, roomEngine, roomRecordings: recordings, roomGuests: createRoomGuests(deps) },
    module: {
      routes: () => roomRoutes({ rooms, moderation, cursors, publicUrl }),
      pages: ({ assets }) => [
        lobbyPage({ rooms, assets, publicUrl, connectOrigins: originsOf(base) }),
        roomJoinPage({ ...base, rooms, isOwnOrigin, publicUrl }),
        roomGatewayPage({
          ...deps,
          ...{ rooms, moderation, relay, isOwnOrigin },
          entrance: createRoomAdmission(deps),
          engine: roomEngine(),
          iceServers: createIceServers({ urls: config.TURN_URLS, secret: config.TURN_SECRET, clock }),
        }),
        roomEngineWebhookPage({ engine: roomEngine() }),
      ],
      jobs: () => [createRoomAssembly({ ...base, composer: composerOf(base) })],
      tasks: () => [
        { name: 'rooms', everyMs: INTERVALS.second, run: () => sweep.run() },
        { name: 'old messages of rooms', everyMs: INTERVALS.minute, run: () => sweep.forget() },
        { name: 'time in rooms', everyMs: INTERVALS.minute, run: () => attendance.run() },
        { name: 'recordings of rooms', everyMs: INTERVALS.hour, run: () => recordings.sweep() },
      ],
      close: () => engine?.close(),
    },
  };
}

/** Topic of room engine events, with the ref of a room as payload. */
const ENGINE_TOPIC = 'room engine';

/**
 * Time without a message after which no media role is assumed to record LiveKit rooms; each sends one per
 * second.
 */
const RECORDER_SILENT_MS = 10_000;

/** @returns whether one was heard of lately. */
function watchRecorders({ bus }: BaseContext): () => boolean {
  let heardMs = Number.NEGATIVE_INFINITY;
  bus.subscribe(ROOM_RECORDER_TOPIC, () => {
    heardMs = performance.now();
  });
  return () => performance.now() - heardMs < RECORDER_SILENT_MS;
}

/** Returns additional origins that browsers in a room connect to. */
function originsOf({ config, roomChoice }: BaseContext): string[] {
  const { LIVEKIT_URL: url } = config;
  if (roomChoice.name !== 'livekit' || url === undefined) return [];
  return [url, url.replace(/^ws/, 'http')];
}

function composerOf({ config, guard, encoderThreads, log }: BaseContext) {
  const { FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe } = config;
  return createRoomComposer({ ffmpeg, ffprobe, guard, threads: encoderThreads, log });
}

/** Returns the hook that announces a room recording when its video becomes playable. */
export function roomRecordingReady({ clock }: BaseContext) {
  return createRoomRecordingReady({ clock });
}
