import { createSameOriginCheck } from '../../http/same-origin.ts';
import type { RoomComposer, RoomEngine, RoomEngineName } from '../../media/contract/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../module.ts';
import type { Platform } from '../platform.ts';
import type { VideoIntake } from '../video/videos/index.ts';
import { createRoomAdmission } from './admission.service.ts';
import { createAttendance } from './attendance.service.ts';
import { type BridgeParticipants, createRoomGuests } from './bridge-participants.service.ts';
import { roomEngineWebhookPage } from './engine-webhook.pages.ts';
import { roomEvents } from './events.ts';
import { roomGatewayPage } from './gateway.pages.ts';
import { roomJoinPage } from './join.pages.ts';
import { lobbyPage } from './lobby.pages.ts';
import { createRoomModeration } from './moderation.service.ts';
import { ROOM_RECORDER_TOPIC } from './recorder.ts';
import { roomRecordingJob } from './recording.jobs.ts';
import { createRoomRecordings, type RoomRecordings } from './recording.service.ts';
import { createRoomAssembly, createRoomRecordingReady } from './recording-assembly.service.ts';
import { createRoomRelay } from './relay.ts';
import { roomRoutes } from './routes.ts';
import { createRooms, type Rooms } from './service.ts';
import { createRoomSweep } from './sweep.service.ts';
import { createRoomTokens } from './tokens.ts';

export { participantJoined, roomRecordingReady } from './events.ts';
export { ROOM_RECORDER_TOPIC } from './recorder.ts';

export const roomsDeclarations: Declarations = { events: roomEvents, jobs: [roomRecordingJob] };

interface RoomsDeps
  extends Pick<
    Platform,
    | 'bus'
    | 'caps'
    | 'clock'
    | 'config'
    | 'cursors'
    | 'db'
    | 'events'
    | 'facts'
    | 'jobs'
    | 'log'
    | 'scratchDir'
    | 'secrets'
    | 'store'
  > {
  intake: VideoIntake;
  composer: RoomComposer;
  roomChoice: { name: RoomEngineName };
  openRoomEngine(options: RoomEngineOptions): RoomEngine;
  iceServers(identity: string): readonly object[];
}

/** Options of the room engine of this process. */
interface RoomEngineOptions extends Pick<Platform, 'clock' | 'log'> {
  relay: ReturnType<typeof createRoomRelay>['signals'];
  hints: RoomChangeNotifier;
  /** Reports whether a recording media role is available. */
  isRecorded(): boolean;
}

/** Notifier of the other nodes. */
interface RoomChangeNotifier {
  tell(ref: string): void;
  listen(listener: (ref: string) => void): void;
}

interface RoomsExports {
  rooms: Rooms;
  roomRecordings: RoomRecordings;
  bridgeParticipants: BridgeParticipants;
  /** Returns the room engine of this process, created on first use. */
  roomEngine(): RoomEngine;
}

export function createRoomsModule(deps: RoomsDeps): FeatureModule & RoomsExports {
  const { config, clock, bus, cursors, jobs, log, openRoomEngine } = deps;
  const { PUBLIC_URL: publicUrl } = config;
  const relay = createRoomRelay(deps);
  const hints: RoomChangeNotifier = {
    tell: (ref) => bus.publish(ENGINE_TOPIC, ref),
    listen: (listener) => void bus.subscribe(ENGINE_TOPIC, listener),
  };
  const isRecorded = watchRecorders(deps);
  let engine: RoomEngine | null = null;
  const roomEngine = () => {
    engine ??= openRoomEngine({ relay: relay.signals, hints, isRecorded, clock, log });
    return engine;
  };
  const engineMax = () => roomEngine().caps.maxParticipants;
  const recordings = createRoomRecordings({ ...deps, queue: jobs, engine: roomEngine, engineMax });
  const shared = {
    ...deps,
    engineMax,
    recorder: recordings.recorder,
    tokens: createRoomTokens(deps),
  };
  const rooms = createRooms(shared);
  const moderation = createRoomModeration(shared);
  const sweep = createRoomSweep(shared);
  const attendance = createAttendance(deps);
  const isOwnOrigin = createSameOriginCheck(config);
  return {
    rooms,
    roomEngine,
    roomRecordings: recordings,
    bridgeParticipants: createRoomGuests(shared),
    routes: () => roomRoutes({ rooms, moderation, cursors, publicUrl }),
    pages: ({ assets }) => [
      lobbyPage({ rooms, assets, publicUrl, connectOrigins: originsOf(deps) }),
      roomJoinPage({ ...deps, rooms, isOwnOrigin, publicUrl }),
      roomGatewayPage({
        ...shared,
        ...{ rooms, moderation, relay, isOwnOrigin },
        entrance: createRoomAdmission(shared),
        engine: roomEngine(),
      }),
      roomEngineWebhookPage({ engine: roomEngine() }),
    ],
    jobs: () => [createRoomAssembly(deps)],
    tasks: () => [
      { name: 'rooms', everyMs: INTERVALS.second, run: () => sweep.run() },
      { name: 'room message cleanup', everyMs: INTERVALS.minute, run: () => sweep.forget() },
      { name: 'room attendance', everyMs: INTERVALS.minute, run: () => attendance.run() },
      { name: 'room recordings', everyMs: INTERVALS.hour, run: () => recordings.sweep() },
    ],
    close: () => engine?.close(),
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
function watchRecorders({ bus }: RoomsDeps): () => boolean {
  let heardMs = Number.NEGATIVE_INFINITY;
  bus.subscribe(ROOM_RECORDER_TOPIC, () => {
    heardMs = performance.now();
  });
  return () => performance.now() - heardMs < RECORDER_SILENT_MS;
}

/** Returns additional origins that browsers in a room connect to. */
function originsOf({ config, roomChoice }: RoomsDeps): string[] {
  const { LIVEKIT_URL: url } = config;
  if (roomChoice.name !== 'livekit' || url === undefined) return [];
  return [url, url.replace(/^ws/, 'http')];
}

/** Returns the hook that announces a room recording when its video becomes playable. */
export function onRoomRecordingPlayable({ clock }: Pick<Platform, 'clock'>) {
  return createRoomRecordingReady({ clock });
}
