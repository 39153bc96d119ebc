import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/logger.ts';
import type { BridgePort, IngestEngine, IngestSession, RoomParticipantHandle } from '../contract/index.ts';
import { liveGuard } from '../ffmpeg/guard.ts';
import { liveLimits } from '../ffmpeg/limits.ts';
import { spawnFfmpeg } from '../ffmpeg/process.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { WebmReader } from '../protocols/matroska/reader.ts';
import { OpusWriter, Vp8Writer } from '../protocols/rtp/writer.ts';
import { PushError } from '../restream/failure.ts';
import { openRoomFeed, PAYLOAD_TYPES, type RoomFeed } from '../rooms/janus/feed.ts';
import type { BridgePlayer } from './source.ts';

export interface RoomPlayerOptions {
  bridgeId: string;
  streamId: string;
  roomId: string;
  autoRestart: boolean;
  engine: Pick<IngestEngine, 'list' | 'feed'>;
  seat: BridgePort['seat'];
  ffmpeg: FfmpegProgram;
  /** File with the connection data of Janus. */
  linkFile: string;
  log: Logger;
}

const LOOK_MS = 500;
const SEAT_MS = 1000;
const JANUS_AWAY_MS = 20_000;
const STOP_GRACE_MS = 1000;
const KEYFRAME_SEC = 1;
const BITRATE_KBPS = 1500;
const NO_SIGNAL = 'The stream has no signal.';
const NO_JANUS = 'The room engine Janus is not running.';

/** Plays a stream in a room, as one of its participants (docs/decisions/bridges.md#rooms). */
export function createRoomPlayer(options: RoomPlayerOptions): BridgePlayer {
  return {
    async play({ onActive, signal }) {
      const session = await waitForSignal(options, signal);
      let triedMs = performance.now();
      while (!signal.aborted && isThere(options, session)) {
        const seat = await seatOf(options);
        const feed = await open(options, seat);
        if (feed !== null) {
          await carry(options, { session, feed, onActive, signal, seat });
          triedMs = performance.now();
        } else if (performance.now() - triedMs > JANUS_AWAY_MS) throw new PushError('normal', NO_JANUS);
        // Either Janus is gone, or the room was ended.
        if (isThere(options, session)) await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
      }
      if (!signal.aborted && options.autoRestart) throw new PushError('normal', NO_SIGNAL);
    },
  };
}

const sessionOf = ({ engine, streamId }: RoomPlayerOptions) =>
  engine.list().find((session) => session.streamId === streamId);

const isThere = (options: RoomPlayerOptions, { sessionId }: IngestSession) =>
  sessionOf(options)?.sessionId === sessionId;

async function waitForSignal(options: RoomPlayerOptions, signal: AbortSignal): Promise<IngestSession> {
  for (;;) {
    const session = sessionOf(options);
    // Before the first header the tracks are unknown.
    if (session?.video !== undefined || session?.audio !== undefined) return session;
    if (session === undefined && !options.autoRestart) throw new PushError('fatal', NO_SIGNAL);
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** @throws {PushError} when no seat is free. */
async function seatOf({ seat, bridgeId }: RoomPlayerOptions): Promise<RoomParticipantHandle> {
  const taken = await seat(bridgeId);
  if (typeof taken === 'string') throw new PushError('normal', taken);
  return taken;
}

/** null while Janus cannot be reached. */
async function open(options: RoomPlayerOptions, seat: RoomParticipantHandle): Promise<RoomFeed | null> {
  const { linkFile, roomId: room, log } = options;
  try {
    return await openRoomFeed({ linkFile, room, ...seat });
  } catch (error) {
    log.debug({ err: error, room }, 'a stream could not be added to a room');
    return null;
  }
}

interface Carried {
  session: IngestSession;
  feed: RoomFeed;
  seat: RoomParticipantHandle;
  onActive(): void;
  signal: AbortSignal;
}

/** Runs until the signal ends, the room disconnects it, or it is stopped. */
async function carry(options: RoomPlayerOptions, carried: Carried): Promise<void> {
  const { engine, ffmpeg, log } = options;
  const { session, feed, signal, onActive } = carried;
  let muted = carried.seat.muted;
  const [vp8, opus] = [new Vp8Writer(PAYLOAD_TYPES.video), new OpusWriter(PAYLOAD_TYPES.audio)];
  const picture = session.video === undefined ? null : 1;
  let isActive = false;
  const reader = new WebmReader(({ track, ms, data }) => {
    if (!isActive) onActive();
    isActive = true;
    if (track !== picture) {
      if (!muted.audio) feed.send('audio', opus.packet(ms, data));
    } else if (!muted.video) for (const packet of vp8.frame(ms, data)) feed.send('video', packet);
  });
  const program = await ffmpeg.guard.start(ffmpeg.bin, liveLimits(0), { reads: [], writes: null });
  const child = spawnFfmpeg({
    program,
    args: playerArgs(session),
    log,
    input: (stdin) => engine.feed(session, stdin),
    onBytes: (bytes) => reader.push(bytes),
  });
  const refused = Promise.withResolvers<never>();
  const asking = setInterval(() => {
    seatOf(options).then((seat) => {
      muted = seat.muted;
    }, refused.reject);
  }, SEAT_MS);
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  try {
    await Promise.race([child.exited, feed.gone, aborted, refused.promise]);
  } finally {
    clearInterval(asking);
    await Promise.all([child.stop(STOP_GRACE_MS), feed.close()]);
  }
}

/** VP8, which every room supports: recordings and thumbnails of rooms read no other codec. */
function playerArgs({ video, audio }: IngestSession): string[] {
  const picture = [
    ...['-map', '0:v:0', '-vf', "scale='min(1280,iw)':-2,fps='min(30,max(10,source_fps))'"],
    ...['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8', '-lag-in-frames', '0', '-threads', '2'],
    ...['-error-resilient', '1', '-auto-alt-ref', '0', '-pix_fmt', 'yuv420p'],
    ...['-b:v', `${BITRATE_KBPS}k`, '-maxrate', `${BITRATE_KBPS}k`, '-bufsize', `${BITRATE_KBPS}k`],
    ...['-force_key_frames', `expr:gte(t,n_forced*${KEYFRAME_SEC})`],
  ];
  const sound = [
    ...['-map', '0:a:0', '-c:a', 'libopus', '-b:a', '96k', '-ar', '48000', '-ac', '2'],
    ...['-frame_duration', '20', '-af', 'aresample=async=1'],
  ];
  return [
    ...['-hide_banner', '-nostats', '-v', 'error', '-nostdin', '-analyzeduration', '1000000'],
    ...['-fpsprobesize', '0', ...liveGuard(video ?? null)],
    ...(video === undefined ? [] : picture),
    ...(audio === undefined ? [] : sound),
    ...['-f', 'webm', '-live', '1', '-cluster_time_limit', '40', '-flush_packets', '1', 'pipe:1'],
  ];
}
