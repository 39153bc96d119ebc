import { join } from 'node:path';
import { WHEP_TOPIC } from '../features/live/whep/module.ts';
import { WHIP_TOPIC } from '../features/live/whip/module.ts';
import { ROOM_RECORDER_TOPIC } from '../features/rooms/module.ts';
import type { ScheduledTask } from '../jobs/schedule.ts';
import type { IngestEngine } from '../media/contract/index.ts';
import type { FfmpegProgram } from '../media/ffmpeg/program.ts';
import { readLink } from '../media/rooms/janus/link-file.ts';
import { startJanus } from '../media/rooms/janus/process.ts';
import { createJanusRecorder } from '../media/rooms/janus/recorder.ts';
import type { MirrorOptions, RoomMirror } from '../media/rooms/livekit/mirror.ts';
import { livekitOf } from '../media/rooms/open.ts';
import type { CompatibilityReports } from '../media/whep/compatibility.ts';
import { createWhepManager, type WhepManager } from '../media/whep/whep-manager.ts';
import { OpusPassthrough } from '../media/whip/opus-passthrough.ts';
import { createWhipManager } from '../media/whip/whip-manager.ts';
import { createDiskSpace } from '../platform/disk.ts';
import type { Container } from './container.ts';

export interface RoomMedia {
  /** Tasks that record rooms, accept WHIP publish sessions, and serve WHEP viewers. */
  tasks: Pick<ScheduledTask, 'name' | 'run'>[];
  stop(): Promise<void>;
}

interface Plane {
  nodeId: string;
  engine: Pick<IngestEngine, 'publish' | 'refuse' | 'list' | 'feed'>;
  ffmpeg: FfmpegProgram;
  fitness: CompatibilityReports;
}

/**
 * Runs the Janus of this machine next to the ingest: it hosts the rooms, or records those of LiveKit, accepts
 * publish sessions by WHIP and serves viewers by WHEP. Returns null when there is none, or no work for it.
 */
export async function startRoomMedia(
  container: Container,
  { nodeId, engine, ffmpeg, fitness }: Plane,
): Promise<RoomMedia | null> {
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
    diskOf: (place) => createDiskSpace(place, config.DISK_RESERVE),
    mirror: server && (await openMirror({ ...port, server, linkFile, log })),
  });
  const sound = new OpusPassthrough();
  const whip = createWhipManager({
    ...{ engine, port: container.whip.port, nodeId, ffmpeg, sound, linkFile, log },
  });
  await whip.recover();
  bus.subscribe(WHIP_TOPIC, () => void whip.sync());
  const whep = createViewers(container, { nodeId, engine, ffmpeg, fitness }, sound);
  await whep?.recover();
  bus.subscribe(WHEP_TOPIC, () => void whep?.sync());
  const record = async () => {
    if (isLivekit && (await readLink(linkFile)) !== null) bus.publish(ROOM_RECORDER_TOPIC);
    await recorder.sync();
  };
  return {
    tasks: [
      { name: 'WHIP publishes', run: () => whip.sync() },
      ...(whep ? [{ name: 'WHEP viewers', run: () => whep.sync() }] : []),
      { name: 'room recordings', run: record },
    ],
    async stop() {
      await Promise.all([recorder.stop(), whip.stop(), whep?.stop()]);
      await janus.stop();
    },
  };
}

/** Returns null when real-time playback is disabled. */
function createViewers(
  { config, log, whep }: Container,
  { nodeId, engine, ffmpeg, fitness: notes }: Plane,
  direct: OpusPassthrough,
): WhepManager | null {
  const { WHEP_MAX_VIEWERS: viewers, WHEP_MAX_VIEWERS_PER_STREAM: perStream, ROOMS_LINK_FILE } = config;
  if (viewers === 0) return null;
  const limits = { viewers, perStream };
  return createWhepManager({
    ...{ engine, port: whep.port, nodeId, ffmpeg, direct, linkFile: ROOMS_LINK_FILE, limits, notes, log },
  });
}

/** LiveKit's libraries are loaded only where it is in use. */
async function openMirror(options: MirrorOptions): Promise<RoomMirror> {
  const { createLivekitMirror } = await import('../media/rooms/livekit/mirror.ts');
  return createLivekitMirror(options);
}
