import { AppError } from '../../kernel/errors.ts';
import type { RoomEngine } from '../../media/contract/index.ts';
import type { RoomPlace } from './locked.ts';

/** Records rooms; filled by the composition root. */
export interface RoomRecorder {
  /** Repeats change nothing. @throws {AppError} CONFLICT, with words, when the room cannot be recorded. */
  start(place: RoomPlace): Promise<void>;
  /** Repeats change nothing. */
  stop(place: RoomPlace): Promise<void>;
}

const MESH =
  'Rooms of this platform run without a media server: people send to each other, and nothing passes that could be recorded. The operator can install one.';

/** Where nothing can record. */
export function createNoRecorder(engine: () => Pick<RoomEngine, 'name'>): RoomRecorder {
  return {
    async start() {
      const message = engine().name === 'mesh' ? MESH : 'This platform does not record rooms.';
      throw new AppError('CONFLICT', { message });
    },
    async stop() {},
  };
}
