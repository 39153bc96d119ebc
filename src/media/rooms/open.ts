import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import type { RoomEngineChoice } from './choice.ts';
import type { RoomEngine } from './engine.ts';
import { createJanusEngine } from './janus/engine.ts';
import { createLivekitEngine, type RoomHints } from './livekit/engine.ts';
import { createMeshEngine, type SignalRelay } from './mesh.ts';

interface Options {
  choice: RoomEngineChoice;
  config: Config;
  /** For the mesh: to people who are connected to other nodes. */
  relay: SignalRelay;
  /** For LiveKit: to the other nodes. */
  hints: RoomHints;
  clock: Clock;
  log: Logger;
}

/** This process's half of the engine that was chosen. */
export function openRoomEngine({ choice, config, relay, hints, clock, log }: Options): RoomEngine {
  if (choice.name === 'janus') return createJanusEngine({ linkFile: config.ROOMS_LINK_FILE, log });
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = config;
  const isLivekit = choice.name === 'livekit';
  if (isLivekit && url !== undefined && apiKey !== undefined && apiSecret !== undefined)
    return createLivekitEngine({ url, apiKey, apiSecret, hints, clock, log });
  return createMeshEngine({ relay });
}
