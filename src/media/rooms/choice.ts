import { ConfigError, type RoomConfig } from '../../platform/config.ts';
import type { RoomEngineName } from './engine.ts';
import { lackOfJanus } from './janus/process.ts';

/** What carries rooms here, and why it is no more than the mesh, in one line. */
export interface RoomEngineChoice {
  name: Exclude<RoomEngineName, 'livekit'>;
  lack: string | null;
}

/** @throws {ConfigError} where ROOMS_ENGINE asks for a Janus that cannot run here. */
export async function chooseRoomEngine(
  config: Pick<RoomConfig, 'ROOMS_ENGINE' | 'JANUS_PATH'>,
): Promise<RoomEngineChoice> {
  const { ROOMS_ENGINE: wanted, JANUS_PATH: program } = config;
  if (wanted === 'mesh') return { name: 'mesh', lack: null };
  const lack = await lackOfJanus(program);
  if (lack === null) return { name: 'janus', lack };
  if (wanted === 'janus') throw new ConfigError(`ROOMS_ENGINE is janus, and ${lack}`);
  return { name: 'mesh', lack };
}
