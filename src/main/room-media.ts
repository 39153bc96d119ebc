import { join } from 'node:path';
import { startJanus } from '../media/rooms/janus/process.ts';
import { createJanusRecorder } from '../media/rooms/janus/recorder.ts';
import { createDiskRoom } from '../platform/disk.ts';
import type { Container } from './container.ts';

export interface RoomMedia {
  /** Records what is wanted. Never rejects. */
  sync(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs what carries rooms on this machine, beside the ingest, and records them; null where that is not Janus. */
export function startRoomMedia(container: Container, nodeId: string): RoomMedia | null {
  const { config, log, store, disk, roomChoice, roomRecordings } = container;
  if (roomChoice.name !== 'janus') return null;
  const folder = join(config.DATA_DIR, 'rooms', 'janus');
  const linkFile = config.ROOMS_LINK_FILE;
  const janus = startJanus({
    program: config.JANUS_PATH,
    folder,
    linkFile,
    ports: config.ROOMS_UDP_PORTS,
    publicIp: config.ROOMS_PUBLIC_IP,
    log,
  });
  const recorder = createJanusRecorder({
    port: roomRecordings.port,
    ...{ store, disk, nodeId, linkFile, log },
    diskOf: (place) => createDiskRoom(place, config.DISK_RESERVE),
  });
  return {
    sync: () => recorder.sync(),
    async stop() {
      await recorder.stop();
      await janus.stop();
    },
  };
}
