import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import type { RoomEngine } from './engine.ts';
import type { RoomEngineSelection } from './engine-selection.ts';
import { createJanusEngine } from './janus/engine.ts';
import type { LivekitServer } from './livekit/api.ts';
import type { RoomChangeNotifier } from './livekit/engine.ts';
import { createMeshEngine, type SignalRelay } from './mesh.ts';

interface Options {
  /** Relay to participants on other nodes, for the mesh. */
  relay: SignalRelay;
  /** Notifier of the other nodes, for LiveKit. */
  hints: RoomChangeNotifier;
  /** Reports whether a recording media role is available, for LiveKit. */
  isRecorded(): boolean;
  clock: Clock;
  log: Logger;
}

/** Function that opens this process's half of the selected engine. */
export type RoomEngineOpener = (options: Options) => RoomEngine;

/** Loads only the selected engine: LiveKit's libraries take a fifth of a second. */
export async function loadRoomEngine(choice: RoomEngineSelection, config: Config): Promise<RoomEngineOpener> {
  if (choice.name === 'janus')
    return ({ log }) => createJanusEngine({ linkFile: config.ROOMS_LINK_FILE, log });
  const server = choice.name === 'livekit' ? livekitOf(config) : null;
  if (server === null) return ({ relay }) => createMeshEngine({ relay });
  const { createLivekitEngine } = await import('./livekit/engine.ts');
  return (options) => createLivekitEngine({ ...server, ...options });
}

/** Returns the configured LiveKit server; null when there is none. */
export function livekitOf(
  config: Pick<Config, `LIVEKIT_${'URL' | 'API_KEY' | 'API_SECRET'}`>,
): LivekitServer | null {
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = config;
  if (url === undefined || apiKey === undefined || apiSecret === undefined) return null;
  return { url, apiKey, apiSecret };
}
