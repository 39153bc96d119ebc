import { join } from 'node:path';
import { type JanusProcess, startJanus } from '../media/rooms/janus/process.ts';
import type { Container } from './container.ts';

/** Runs what carries rooms on this machine, beside the ingest; null where that is not Janus. */
export function startRoomMedia({ config, roomChoice, log }: Container): JanusProcess | null {
  if (roomChoice.name !== 'janus') return null;
  return startJanus({
    program: config.JANUS_PATH,
    folder: join(config.DATA_DIR, 'rooms', 'janus'),
    linkFile: config.ROOMS_LINK_FILE,
    ports: config.ROOMS_UDP_PORTS,
    publicIp: config.ROOMS_PUBLIC_IP,
    log,
  });
}
