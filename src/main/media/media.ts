import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { trimFolder } from '../../../scripts/bootstrap/compiled.mjs';
import { BRIDGE_TOPIC } from '../../features/live/bridges/module.ts';
import { RESTREAM_TOPIC } from '../../features/live/restreams/module.ts';
import { STREAM_DELETED_TOPIC, STREAM_TOPIC } from '../../features/live/streams/module.ts';
import { type ScheduledTask, startSchedule } from '../../jobs/schedule.ts';
import { createBridgeManager } from '../../media/bridges/bridge-manager.ts';
import { createDemuxer } from '../../media/bridges/demuxer.ts';
import { createHistoryKeeper } from '../../media/dvr/dvr-recorder.ts';
import { type EventLoopWatchdog, startEventLoopWatchdog } from '../../media/event-loop-watchdog.ts';
import type { FfmpegInfo } from '../../media/ffmpeg/check.ts';
import { openFfmpeg } from '../../media/ffmpeg/program.ts';
import { createBitrateCeiling } from '../../media/ingest/bitrate-ceiling.ts';
import {
  type Certificate,
  createEmbeddedRtmp,
  type EmbeddedRtmpEngine,
} from '../../media/ingest/embedded-rtmp.ts';
import { createSimulator } from '../../media/ingest/simulator.ts';
import type { LiveHardware } from '../../media/live/capacity.ts';
import { createLiveManager } from '../../media/live/live-manager.ts';
import { createBroadcastStates } from '../../media/nodes/broadcast-states.ts';
import { createLastServed } from '../../media/nodes/last-served.ts';
import { createRecordingManager } from '../../media/recording/recording-manager.ts';
import { createRestreamManager } from '../../media/restream/restream-manager.ts';
import { createCompatibilityReports } from '../../media/whep/compatibility.ts';
import { loadConfig } from '../../platform/config.ts';
import { readCertificate, watchCertificate } from '../certificate.ts';
import { type Container, createContainer } from '../container.ts';
import { describeStartupError } from '../describe-error.ts';
import type { MediaHandles, MediaMessage, MediaOrder, MediaStart } from './child.ts';
import { createMediaDrain, hasSuccessor, MOVE_MS, releaseLeases } from './drain.ts';
import { recoverFormerNodes } from './former-nodes.ts';
import { createIngestHooks, onPublishRejected, reportHealth } from './ingest.ts';
import { startLiveEndpoint } from './live-endpoint.ts';
import { type MediaProcessPosition, nodeFolderOf } from './node.ts';
import { startRoomMedia } from './rooms.ts';
import { launchSender } from './sender-process.ts';
import type { EncoderProtocol } from './socket-distributor.ts';

const HEARTBEAT_MS = 1000;
const GAUGES_MS = 5000;
const HEALTH_MS = 5000;
const CERTIFICATE_MS = 10_000;
const ADDRESS_MS = 60_000;
/** Maximum size of the senders' compiled code: a bundle takes 1 MB under its own names. */
const COMPILED_BYTES = 32 * 2 ** 20;

function tell(message: MediaMessage): void {
  if (process.connected) process.send?.(message, () => {});
}

/** This process, which is a media node. */
interface OwnNode extends MediaProcessPosition {
  /** Data folder. */
  folder: string;
}

interface PlaneOptions {
  node: OwnNode;
  ffmpegInfo: FfmpegInfo | null;
  handles: MediaHandles;
}

/** Creates the packagers and recorders of the ingest engine, according to the configuration. */
async function createMediaPlane(container: Container, { node, ffmpegInfo, handles }: PlaneOptions) {
  const { config, signals, healthSeries, simulations, store, log, clock, guard } = container;
  const ffmpeg = await openFfmpeg(config.FFMPEG_PATH, guard(), ffmpegInfo);
  const { nodeId } = node;
  const certificate = await readCertificate(config);
  const engine = createEmbeddedRtmp({
    host: config.HOST,
    port: config.RTMP_PORT,
    nodeId,
    log,
    clock,
    limits: { idleMs: config.INGEST_IDLE_MS, connectionsPerAddress: config.INGEST_MAX_PER_ADDRESS },
    ...(certificate === null ? {} : { tls: { port: config.RTMPS_PORT, ...certificate } }),
    handles,
    isShared: node.count > 1,
  });
  const sending = createReaders(container, { engine, node, ffmpeg });
  const { recorder } = sending;
  const fitness = createCompatibilityReports(engine);
  const ceiling = createBitrateCeiling({ engine, onRefused: onPublishRejected({ signals, log }) });
  const live = createLiveManager({
    engine,
    liveDir: join(node.folder, 'live'),
    ffmpeg,
    maxRungs: config.LIVE_MAX_RUNGS,
    processes: node.count,
    hardware: hardwareOf(container),
    log,
    clock,
    lastKept: lastNumbers(container, nodeId),
    onRefused: onPublishRejected({ signals, log }),
    onHealth: reportHealth({ signals, recorder, ceiling, fitness, healthSeries, log }),
  });
  const states = createBroadcastStates({
    publishing: () => engine.list().map(({ streamId }) => streamId),
    listLive: (streamIds) => container.mediaNodes.listLive(streamIds),
  });
  const history = createHistoryKeeper({ live, port: container.dvr.port, store, nodeId, log });
  const simulator = createSimulator({
    port: simulations.port,
    nodeId,
    ffmpeg: ffmpeg.bin,
    rtmpPort: () => engine.ports.rtmp,
    log,
  });
  return {
    node,
    nodeId,
    engine,
    live,
    states,
    history,
    simulator,
    ceiling,
    fitness,
    certificate,
    ffmpeg,
    ...sending,
  };
}

/** Detects the hardware in the background: a broadcast that begins before is encoded in software. */
function hardwareOf({ hardware, log }: Container): () => LiveHardware | null {
  let found: LiveHardware | null = null;
  hardware.forBroadcasts().then(
    (live) => {
      found = live;
    },
    (error: unknown) => log.error({ err: error }, 'hardware encoders could not be tested'),
  );
  return () => found;
}

/**
 * Returns the last segment numbers of a stream: continuing after its stored segments, or after those another
 * node served.
 */
function lastNumbers({ dvr, mediaNodes, liveSourceOf, clock }: Container, nodeId: string) {
  const before = (streamId: string, sinceMs: number) => mediaNodes.elsewhere(streamId, { nodeId, sinceMs });
  const lastShown = createLastServed({ before, sourceOf: liveSourceOf, clock });
  return async (streamId: string, sinceMs: number) =>
    (await dvr.port.lastKept(streamId)) ?? lastShown(streamId, sinceMs);
}

interface Reading {
  engine: EmbeddedRtmpEngine;
  node: OwnNode;
  ffmpeg: Awaited<ReturnType<typeof openFfmpeg>>;
}

/** Creates the recorders, restreams and bridges, which run outside the packagers. */
function createReaders(container: Container, { engine, node, ffmpeg }: Reading) {
  const { nodeId, folder } = node;
  const { config, recordings, restreamRuns, store, log, clock, disk, bridgeRuns, fetcher } = container;
  const recorder = createRecordingManager({
    engine,
    port: recordings.port,
    store,
    disk,
    dir: join(folder, 'rec'),
    nodeId,
    ffmpeg,
    log,
    clock,
  });
  const cacheDir = join(folder, 'compiled');
  trimFolder(cacheDir, COMPILED_BYTES);
  const restreams = createRestreamManager({
    engine,
    port: restreamRuns.port,
    nodeId,
    launch: (events) => launchSender(events, { log, cacheDir }),
    log,
  });
  const bridges = createBridgeManager({
    engine,
    port: bridgeRuns.port,
    nodeId,
    machine: node.nodeIds,
    outbound: fetcher,
    demuxer: createDemuxer(async () => ffmpeg, log),
    rooms:
      container.roomChoice.name === 'janus'
        ? { ffmpeg, linkFile: config.ROOMS_LINK_FILE, dir: join(folder, 'bridges') }
        : null,
    log,
  });
  return { recorder, restreams, bridges };
}

type MediaPlane = Awaited<ReturnType<typeof createMediaPlane>>;

interface RunningMedia {
  /** Accepts a connection of an encoder from the first process. */
  take(socket: Socket, protocol: EncoderProtocol): void;
  stop(): Promise<void>;
}

/** Runs the media role. */
async function runMedia(start: MediaStart, handles: MediaHandles): Promise<RunningMedia> {
  const container = await createContainer({
    config: loadConfig(),
    databaseUrl: start.databaseUrl,
    secretKey: Buffer.from(start.secretKey, 'hex'),
    rooms: start.rooms,
    name: 'media',
  });
  const { signals, healthSeries, log } = container;
  const folder = nodeFolderOf(container.config.DATA_DIR, start.position.index);
  const node = { ...start.position, folder };
  const plane = await createMediaPlane(container, { node, ffmpegInfo: start.ffmpeg, handles });
  const { nodeId, engine, live, states, history, recorder, simulator, certificate, restreams, bridges } =
    plane;
  await signals.nodeStarted(nodeId);
  await live.start();
  await recorder.recover();
  await restreams.recover();
  await bridges.recover();
  const formerNodes = await recoverFormerNodes(container, node, plane.ffmpeg);
  const rooms = await startRoomMedia(container, plane);
  const endpoint = await startLiveEndpoint(container, { node, handle: handles.nodes, states });
  await engine.start(createIngestHooks({ signals, live, recorder, restreams, simulator, log }));
  const heartbeat = async () => {
    const sessions = engine.list().map((session) => session.sessionId);
    for (const id of await signals.heartbeat(nodeId, sessions)) await engine.kick(id, 'kicked');
  };
  obeyHints(container, plane, heartbeat);
  const watchdog = startEventLoopWatchdog(log);
  const schedule = startSchedule(
    [
      { name: 'ingest heartbeat', everyMs: HEARTBEAT_MS, run: heartbeat },
      { name: 'broadcast states', everyMs: HEARTBEAT_MS, run: () => states.refresh() },
      ...syncTasks(plane),
      ...(rooms?.tasks ?? []).map((task) => ({ ...task, everyMs: HEARTBEAT_MS })),
      ...formerNodes.tasks,
      { name: 'health series', everyMs: HEALTH_MS, run: () => healthSeries.flush() },
      {
        name: 'media gauges',
        everyMs: GAUGES_MS,
        run: async () => tellGauges(engine, endpoint.served, watchdog),
      },
      { name: 'node address', everyMs: ADDRESS_MS, run: () => endpoint.announce() },
      ...certificateTasks(container, certificate, engine),
    ],
    log,
  );
  terminate = createMediaDrain(container.config, { ...plane, rooms }, { stop: shutdown, log });
  const stop = async () => {
    // Parts that need no database stop first, because it may be gone already.
    const isMoving = hasSuccessor(container, plane);
    const roomsEnded = rooms?.stop();
    watchdog.stop();
    await schedule.stop();
    await Promise.all([simulator.stop(), restreams.stop(), bridges.stop(), roomsEnded]);
    await engine.stop();
    await releaseLeases([restreams, bridges], log);
    await Promise.all([live.stop(), recorder.stop(), history.stop(), formerNodes.stop()]);
    // The last segments, and their numbers, are still read here.
    if (await isMoving) await sleep(MOVE_MS);
    await endpoint.stop();
    await container.close();
  };
  return { take: (socket, protocol) => engine.take(socket, protocol), stop };
}

/** Returns the tasks that apply the desired state in the database. */
function syncTasks(plane: MediaPlane): ScheduledTask[] {
  const { recorder, history, restreams, bridges, ceiling, simulator } = plane;
  return [
    { name: 'recordings', everyMs: HEARTBEAT_MS, run: () => recorder.sync() },
    { name: 'DVR history', everyMs: HEARTBEAT_MS, run: () => history.sync() },
    { name: 'restreams', everyMs: HEARTBEAT_MS, run: () => restreams.sync() },
    { name: 'bridges', everyMs: HEARTBEAT_MS, run: () => bridges.sync() },
    { name: 'bitrates', everyMs: HEARTBEAT_MS, run: () => ceiling.check() },
    { name: 'simulated signals', everyMs: HEARTBEAT_MS, run: () => simulator.sync() },
  ];
}

function certificateTasks(
  { config, log }: Container,
  certificate: Certificate | null,
  engine: EmbeddedRtmpEngine,
): ScheduledTask[] {
  if (certificate === null) return [];
  const run = watchCertificate(config, certificate, { log, renew: (next) => engine.setCertificate(next) });
  return [{ name: 'certificate', everyMs: CERTIFICATE_MS, run }];
}

/** Applies changes that the API and the worker made in the database. */
function obeyHints(
  { bus, log }: Container,
  { live, states, recorder, restreams, bridges, simulator }: MediaPlane,
  heartbeat: () => Promise<void>,
) {
  bus.subscribe(STREAM_DELETED_TOPIC, (streamId) => {
    live.remove(streamId).catch((error: unknown) => {
      log.warn({ err: error, streamId }, 'the files of a deleted stream could not be removed');
    });
  });
  bus.subscribe(BRIDGE_TOPIC, () => void bridges.sync());
  bus.subscribe(RESTREAM_TOPIC, () => void restreams.sync());
  bus.subscribe(STREAM_TOPIC, (streamId) => {
    live.changed(streamId);
    void recorder.sync();
    void restreams.sync();
    void bridges.sync();
    void simulator.sync();
    states
      .refresh()
      .catch((error: unknown) => log.warn({ err: error }, 'broadcast states could not be read'));
    heartbeat().catch((error: unknown) => log.warn({ err: error }, 'the heartbeat failed'));
  });
}

function tellGauges(
  engine: MediaPlane['engine'],
  served: Readonly<Record<string, number>>,
  watchdog: EventLoopWatchdog,
): void {
  const stats = engine.list().map((session) => engine.stats(session.sessionId));
  tell({
    type: 'gauges',
    publishers: stats.length,
    bitrateKbps: stats.reduce((sum, one) => sum + (one?.bitrateKbps ?? 0), 0),
    residentBytes: process.memoryUsage.rss(),
    served: { ...served },
    eventLoopDelay: watchdog.report(),
  });
}

let running: RunningMedia | null = null;
let stopping = false;
/** Handles SIGTERM and SIGINT. */
let terminate = shutdown;

function shutdown(): void {
  if (stopping) return;
  stopping = true;
  (running?.stop() ?? Promise.resolve()).then(
    () => process.exit(0),
    () => process.exit(1),
  );
}

const handles: MediaHandles = {};

function begin(start: MediaStart): void {
  runMedia(start, handles).then(
    (media) => {
      running = media;
      tell({ type: 'ready' });
      if (stopping) void media.stop().finally(() => process.exit(0));
    },
    (error: unknown) => {
      tell({ type: 'fatal', message: describeStartupError(error) });
      process.exitCode = 1;
      setTimeout(() => process.exit(1), 200);
    },
  );
}

/** @param socket missing when the encoder has disconnected on the way. */
function take(id: number, protocol: EncoderProtocol, socket: unknown): void {
  if (!(socket instanceof Socket) || running === null || stopping) {
    if (socket instanceof Socket) socket.destroy();
    tell({ type: 'closed', id });
    return;
  }
  socket.once('close', () => tell({ type: 'closed', id }));
  running.take(socket, protocol);
}

process.on('message', (order: MediaOrder, handle: MediaHandles[keyof MediaHandles]) => {
  if (order.type === 'init') begin(order);
  else if (order.type === 'connection') take(order.id, order.protocol, handle);
  else if (order.type === 'offer') {
    if (running !== null && !stopping) tell({ type: 'accept', id: order.id });
  } else {
    handles[order.name] = handle;
    if (order.isReturned) process.send?.({ type: 'port', name: order.name }, handle, () => {});
  }
});
process.on('SIGTERM', () => terminate());
process.on('SIGINT', () => terminate());
// The first process is gone, even by kill -9: nothing may be left behind.
process.on('disconnect', shutdown);
