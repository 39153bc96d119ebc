import { join } from 'node:path';
import { ROOM_RECORDER_TOPIC } from '../features/rooms/index.ts';
import { readLink } from '../media/rooms/janus/link.ts';
import { startJanus } from '../media/rooms/janus/process.ts';
import { createJanusRecorder } from '../media/rooms/janus/recorder.ts';
import type { MirrorOptions, RoomMirror } from '../media/rooms/livekit/mirror.ts';
import { livekitOf } from '../media/rooms/open.ts';
import { createDiskRoom } from '../platform/disk.ts';
import type { Container } from './container.ts';

export interface RoomMedia {
  /** Records what is wanted. Never rejects. */
  sync(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs the Janus of this machine beside the ingest: it carries the rooms, or records those of LiveKit. null where there is
 * none, or nothing for it to do.
 */
export async function startRoomMedia(container: Container, nodeId: string): Promise<RoomMedia | null> {
  const { config, log, store, disk, bus, roomChoice, roomRecordings } = container;
  const isLivekit = roomChoice.name === 'livekit' && roomChoice.hasJanus === true;
  if (roomChoice.name !== 'janus' && !isLivekit) return null;
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
  const { port } = roomRecordings;
  const server = isLivekit ? livekitOf(config) : null;
  const recorder = createJanusRecorder({
    ...{ port, store, disk, nodeId, linkFile, log },
    diskOf: (place) => createDiskRoom(place, config.DISK_RESERVE),
    mirror: server && (await openMirror({ ...port, server, linkFile, log })),
  });
  return {
    async sync() {
      if (isLivekit && (await readLink(linkFile)) !== null) bus.publish(ROOM_RECORDER_TOPIC);
      await recorder.sync();
    },
    async stop() {
      await recorder.stop();
      await janus.stop();
    },
  };
}

/** LiveKit's libraries are loaded only where it is in use. */
async function openMirror(options: MirrorOptions): Promise<RoomMirror> {
  const { createLivekitMirror } = await import('../media/rooms/livekit/mirror.ts');
  return createLivekitMirror(options);
}
