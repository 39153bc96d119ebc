import { type PullUrl, parsePullUrl } from '../../kernel/pull-url.ts';
import type { Logger } from '../../platform/logger.ts';
import {
  BRIDGE_LEASE_MS,
  type BridgePort,
  type BridgeReport,
  type DesiredBridge,
  type IngestEngine,
} from '../contract/index.ts';
import { LeaseLoop } from '../restream/lease-loop.ts';
import { Bridge } from './bridge.ts';
import { runHls } from './hls-source.ts';
import { createRoomPlayer } from './room-player.ts';
import { type RoomSourceOptions, runRoom } from './room-source.ts';
import { runRtmp } from './rtmp-source.ts';
import { runRtsp } from './rtsp-source.ts';
import type { BridgePlayer, BridgeSource, SourceContext } from './source.ts';
import { runSrt } from './srt-source.ts';

export interface BridgeManagerOptions {
  engine: Pick<IngestEngine, 'publish' | 'list' | 'feed'>;
  port: BridgePort;
  nodeId: string;
  /** IDs of all nodes of this machine; default: only this one. */
  machine?: readonly string[];
  outbound: SourceContext['outbound'];
  demuxer: SourceContext['demuxer'];
  /** Dependencies of room bridges; null when this node serves no rooms. */
  rooms: Pick<RoomSourceOptions, 'ffmpeg' | 'linkFile' | 'dir'> | null;
  log: Logger;
  backoffMs?: readonly number[];
}

/** Bridge runner of this node, in process: fetched media goes directly into the node's ingest. */
export interface BridgeManager {
  /** Releases bridges that an earlier process has run. */
  recover(): Promise<void>;
  /** Reads the desired bridges, then starts and ends bridges accordingly. Never rejects. */
  sync(): Promise<void>;
  /** Ends every bridge of this node; they resume when the node is back, or on another node. */
  stop(): Promise<void>;
}

interface Running {
  bridge: Bridge;
  /** Report not yet written; null when all are. */
  unwritten: BridgeReport | null;
  /** Reports are written one after another. */
  reports: Promise<void>;
}

export function createBridgeManager(options: BridgeManagerOptions): BridgeManager {
  const { port, nodeId, log } = options;
  const running = new Map<string, Running>();
  const ending = new Set<Promise<void>>();
  let isStopping = false;

  const write = (one: Running, report: BridgeReport) => {
    one.unwritten = report;
    one.reports = one.reports
      .then(() => port.report(nodeId, report))
      .then(() => {
        if (one.unwritten === report) one.unwritten = null;
      })
      .catch((error: unknown) => {
        log.warn({ err: error, bridgeId: report.bridgeId }, 'the state of a bridge could not be stored');
      });
  };
  const begin = (wanted: DesiredBridge) => {
    const { engine, outbound, demuxer, backoffMs } = options;
    const bridge = new Bridge({
      ...{ wanted, engine, outbound, demuxer, admit: port.admit },
      source: sourceOf(options, wanted),
      report: (report) => {
        const one = running.get(wanted.bridgeId);
        if (one !== undefined) write(one, report);
      },
      ...(backoffMs === undefined ? {} : { backoffMs }),
    });
    return { bridge, unwritten: null, reports: Promise.resolve() };
  };
  const apply = (wanted: readonly DesiredBridge[]) => {
    const byId = new Map(wanted.map((one) => [one.bridgeId, one]));
    for (const [bridgeId, one] of running) {
      if (byId.has(bridgeId)) continue;
      running.delete(bridgeId);
      const ended = one.bridge.stop(!isStopping).finally(() => ending.delete(ended));
      ending.add(ended);
    }
    for (const [bridgeId, one] of byId) {
      const known = running.get(bridgeId);
      // An ended bridge stays in the map until its report is written, and is not restarted.
      if (known === undefined) running.set(bridgeId, begin(one));
      else if (known.unwritten !== null) write(known, known.unwritten);
    }
  };
  const loop = new LeaseLoop<DesiredBridge>({
    ask: () => port.wanted(nodeId, options.rooms !== null, options.machine),
    apply,
    leaseMs: BRIDGE_LEASE_MS,
    what: 'the bridges to run',
    log,
  });
  return {
    recover: () => port.started(nodeId),
    sync: () => loop.sync(),
    async stop() {
      isStopping = true;
      await loop.stop();
      await Promise.all(ending);
    },
  };
}

/** @returns the source, or the message why there is none. */
function sourceOf(
  { engine, port, rooms, log }: BridgeManagerOptions,
  wanted: DesiredBridge,
): BridgeSource | BridgePlayer | string {
  if (wanted.type === 'PULL_TO_STREAM') return validateSource(wanted.sourceUrl);
  if (rooms === null) return 'This node does not host rooms.';
  if (wanted.type === 'STREAM_TO_ROOM')
    return createRoomPlayer({ ...rooms, ...wanted, engine, seat: port.seat, log });
  const { roomId, layout } = wanted;
  return {
    run: (context) => runRoom({ ...rooms, roomId, layout, log, view: () => port.viewRoom(roomId) }, context),
    endsForGood: true,
  };
}

/** @returns the source, or the message why the URL is invalid. */
export function validateSource(sourceUrl: string): BridgeSource | string {
  const address = parsePullUrl(sourceUrl);
  if (typeof address === 'string') return `Invalid URL: ${address}.`;
  return { run: (context) => runSource(address, context), endsForGood: address.scheme === 'https' };
}

/** Fetches a source, each kind by its own reader. */
async function runSource(address: PullUrl, context: SourceContext): Promise<void> {
  switch (address.scheme) {
    case 'https':
      return runHls(address, context);
    case 'rtmp':
    case 'rtmps':
      return runRtmp(address, context);
    case 'srt':
      return runSrt(address, context);
    case 'rtsp':
    case 'rtsps':
      return runRtsp(address, context);
  }
}
