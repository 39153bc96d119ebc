import { join } from 'node:path';
import { WHEP_TOPIC } from '../../features/live/whep/module.ts';
import { WHIP_TOPIC } from '../../features/live/whip/module.ts';
import { ROOM_RECORDER_TOPIC } from '../../features/rooms/module.ts';
import type { ScheduledTask } from '../../jobs/schedule.ts';
import type { IngestEngine } from '../../media/contract/index.ts';
import type { FfmpegProgram } from '../../media/ffmpeg/program.ts';
import { readLink } from '../../media/rooms/janus/link-file.ts';
import { startJanus } from '../../media/rooms/janus/process.ts';
import { createJanusRecorder } from '../../media/rooms/janus/recorder.ts';
import type { MirrorOptions, RoomMirror } from '../../media/rooms/livekit/mirror.ts';
import { livekitOf } from '../../media/rooms/open.ts';
import type { CompatibilityReports } from '../../media/whep/compatibility.ts';
import { createWhepManager } from '../../media/whep/whep-manager.ts';
import { OpusPassthrough } from '../../media/whip/opus-passthrough.ts';
import { createWhipManager } from '../../media/whip/whip-manager.ts';
import { createDiskSpace } from '../../platform/disk.ts';
import type { Container } from '../container.ts';
import type { MediaProcessPosition } from './node.ts';

export interface RoomMedia {
  /** Tasks that record rooms, accept WHIP publish sessions, and serve WHEP viewers. */
  tasks: Pick<ScheduledTask, 'name' | 'run'>[];
  /** Leaves WHIP offers to other nodes; open publishes continue. */
  refusePublishes(): void;
  stop(): Promise<void>;
}

interface Plane {
  node: MediaProcessPosition;
  engine: Pick<IngestEngine, 'publish' | 'refuse' | 'list' | 'feed'>;
  ffmpeg: FfmpegProgram;
  fitness: CompatibilityReports;
}

/**
 * Runs the Janus of this machine next to the ingest: it hosts the rooms, or records those of LiveKit, accepts
 * publish sessions by WHIP and serves viewers by WHEP. Returns null when there is none, or no work for it.
 * Of several media processes, the first one runs Janus; the others only serve viewers through it.
 */
export async function startRoomMedia(container: Container, plane: Plane): Promise<RoomMedia | null> {
  const { name, hasJanus } = container.roomChoice;
  if (name !== 'janus' && !(name === 'livekit' && hasJanus === true)) return null;
  if (plane.node.index === 0) return startJanusMedia(container, plane);
  const whep = await startViewers(container, plane, new OpusPassthrough());
  return whep && { tasks: [whep.task], refusePublishes() {}, stop: () => whep.stop() };
}

async function startJanusMedia(container: Container, plane: Plane): Promise<RoomMedia> {
  const { config, log, store, disk, bus, roomChoice, roomRecordings } = container;
  const { engine, ffmpeg } = plane;
  const { nodeId } = plane.node;
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
  const isLivekit = roomChoice.name === 'livekit';
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
  const whep = await startViewers(container, plane, sound);
  const record = async () => {
    if (isLivekit && (await readLink(linkFile)) !== null) bus.publish(ROOM_RECORDER_TOPIC);
    await recorder.sync();
  };
  return {
    tasks: [
      { name: 'WHIP publishes', run: () => whip.sync() },
      ...(whep ? [whep.task] : []),
      { name: 'room recordings', run: record },
    ],
    refusePublishes: () => whip.refusePublishes(),
    async stop() {
      await Promise.all([recorder.stop(), whip.stop(), whep?.stop()]);
      await janus.stop();
    },
  };
}

/** Serves the viewers of this process's broadcasts. Returns null when real-time playback is disabled. */
async function startViewers(
  { config, log, whep, bus }: Container,
  { node: { nodeId }, engine, ffmpeg, fitness: notes }: Plane,
  direct: OpusPassthrough,
) {
  const { WHEP_MAX_VIEWERS: viewers, WHEP_MAX_VIEWERS_PER_STREAM: perStream, ROOMS_LINK_FILE } = config;
  if (viewers === 0) return null;
  const limits = { viewers, perStream };
  const manager = createWhepManager({
    ...{ engine, port: whep.port, nodeId, ffmpeg, direct, linkFile: ROOMS_LINK_FILE, limits, notes, log },
  });
  await manager.recover();
  bus.subscribe(WHEP_TOPIC, () => void manager.sync());
  return { task: { name: 'WHEP viewers', run: () => manager.sync() }, stop: () => manager.stop() };
}

/** LiveKit's libraries are loaded only where it is in use. */
async function openMirror(options: MirrorOptions): Promise<RoomMirror> {
  const { createLivekitMirror } = await import('../../media/rooms/livekit/mirror.ts');
  return createLivekitMirror(options);
}
