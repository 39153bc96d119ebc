import { AppError } from '../../kernel/errors.ts';
import type { RoomEngine, RoomLayout } from '../../media/contract/index.ts';
import type { RoomRef } from './locked.ts';
import type { RoomRow } from './repository.ts';

/** Recorder of rooms; set in module.ts. */
export interface RoomRecorder {
  /** Reports whether this platform can record rooms. */
  canRecord(): boolean;
  /**
   * Starts the recording. Idempotent.
   * @param layout defaults to that of the room.
   * @throws {AppError} CONFLICT, with the reason, when the room cannot be recorded; QUOTA_EXCEEDED.
   */
  start(place: RoomRef, layout?: RoomLayout): Promise<void>;
  /** Idempotent. */
  stop(place: RoomRef): Promise<void>;
}

const MESH =
  'Rooms on this platform run peer-to-peer without a media server, so they cannot be recorded. The operator can install one.';

const LIVEKIT =
  'Rooms on this platform run on LiveKit, and recording them requires Janus next to the media role. The operator can install it.';

const WORDS = {
  mesh: MESH,
  livekit: LIVEKIT,
  janus: 'Room recording is disabled on this platform.',
} as const;

/** Bus topic on which media roles report that they can record LiveKit rooms. */
export const ROOM_RECORDER_TOPIC = 'room recorder';

/** Creates the recorder of an installation that cannot record. */
export function createNoRecorder(engine: () => Pick<RoomEngine, 'name'>): RoomRecorder {
  return {
    canRecord: () => false,
    async start() {
      throw new AppError('CONFLICT', { message: WORDS[engine().name] });
    },
    async stop() {},
  };
}

/** @throws {AppError} CONFLICT. */
export function assertRecordable(room: Pick<RoomRow, 'status' | 'record_enabled'>): void {
  if (room.status !== 'ACTIVE') {
    throw new AppError('CONFLICT', { message: 'The room is empty, so there is nothing to record.' });
  }
  if (!room.record_enabled) {
    const message = 'Recording is disabled for this room: recordEnabled is false.';
    throw new AppError('CONFLICT', { field: 'recordEnabled', message });
  }
}
