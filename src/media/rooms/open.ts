import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import type { RoomEngineChoice } from './choice.ts';
import type { RoomEngine } from './engine.ts';
import { createJanusEngine } from './janus/engine.ts';
import { createMeshEngine, type SignalRelay } from './mesh.ts';

interface Options {
  choice: RoomEngineChoice;
  config: Config;
  /** For the mesh: to people who are connected to other nodes. */
  relay: SignalRelay;
  log: Logger;
}

/** This process's half of the engine that was chosen. */
export function openRoomEngine({ choice, config, relay, log }: Options): RoomEngine {
  if (choice.name === 'janus') return createJanusEngine({ linkFile: config.ROOMS_LINK_FILE, log });
  return createMeshEngine({ relay });
}
