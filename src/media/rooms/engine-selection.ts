import { ConfigError, type RoomConfig } from '../../platform/config.ts';
import type { RoomEngineName } from './engine.ts';
import { janusUnavailableReason } from './janus/process.ts';

/** Selected room engine, and the reason, in one line, why only the mesh is available. */
export interface RoomEngineSelection {
  name: RoomEngineName;
  lack: string | null;
  /** Whether Janus can run on this machine: for its own rooms, or to record those of LiveKit. */
  hasJanus?: boolean;
}

/** @throws {ConfigError} when ROOMS_ENGINE requires a Janus that cannot run here. */
export async function selectRoomEngine(
  config: Pick<RoomConfig, 'ROOMS_ENGINE' | 'JANUS_PATH' | 'LIVEKIT_URL'>,
): Promise<RoomEngineSelection> {
  const { ROOMS_ENGINE: wanted, JANUS_PATH: program, LIVEKIT_URL: livekit } = config;
  if (wanted === 'mesh') return { name: wanted, lack: null };
  const unavailableReason = await janusUnavailableReason(program);
  const hasJanus = unavailableReason === null;
  if (wanted === 'livekit' || (wanted === 'auto' && livekit !== undefined))
    return { name: 'livekit', lack: null, hasJanus };
  if (hasJanus) return { name: 'janus', lack: unavailableReason, hasJanus };
  if (wanted === 'janus') throw new ConfigError(`ROOMS_ENGINE is janus, but ${unavailableReason}`);
  return { name: 'mesh', lack: unavailableReason };
}
