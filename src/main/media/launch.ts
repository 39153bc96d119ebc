import { DEFAULT_CONNECTION_LIMITS } from '../../media/ingest/connection-limit.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaGauges } from '../../platform/metrics.ts';
import type { MediaPorts } from '../held-ports.ts';
import { type MediaChild, type MediaInit, type MediaMessage, superviseMedia } from './child.ts';
import { MediaGaugesSum } from './gauges.ts';
import { nodeFolderOf } from './node.ts';
import { nodeIdOf } from './node-id.ts';
import { type ConnectionTaker, SocketDistributor } from './socket-distributor.ts';

/** The media processes, from their start: they load their code while there is no database yet. */
export interface MediaLaunch {
  /** Starts the role in each process, now and after each restart. Resolves when all accept publishes. */
  begin(init: MediaInit, onGauges: (gauges: MediaGauges) => void): Promise<void>;
  /** Reports whether any of the processes runs. */
  running(): boolean;
  /** Drains and ends them. @param drainMs time for which their broadcasts may continue. */
  stop(drainMs?: number): Promise<void>;
}

interface Options {
  log: Logger;
  config: Pick<Config, 'DATA_DIR' | 'INGEST_MAX_PER_ADDRESS' | 'MEDIA_PROCESSES'>;
  ports: MediaPorts;
  /** Called when the first start fails for a permanent reason. */
  onFatal(message: string): void;
}

/**
 * Runs the media role in processes of its own and restarts those that die. The ports stay open all the time
 * (docs/decisions/startup-and-idle.md#ports). A single process listens on them; of several, each gets some of
 * the connections (docs/decisions/processes.md#media-processes).
 */
export function launchMedia(options: Options): MediaLaunch {
  const { log, config, ports, onFatal } = options;
  const count = config.MEDIA_PROCESSES;
  const gauges = new MediaGaugesSum();
  let tellGauges: (total: MediaGauges) => void = () => {};
  const receive = (index: number, message: MediaMessage) => {
    if (message.type === 'accept') distributor?.accept(index, message.id);
    else if (message.type === 'closed') distributor?.end(message.id);
    else if (message.type === 'gauges') {
      gauges.set(index, message);
      distributor?.report(index, message.publishers);
      tellGauges(gauges.total());
    }
  };
  const children = Array.from({ length: count }, (_, index) =>
    superviseMedia({
      log: count === 1 ? log : log.child({ index }),
      ports: {
        nodes: ports.nodes[index] ?? null,
        ...(count === 1 && { rtmp: ports.rtmp, rtmps: ports.rtmps }),
      },
      onMessage: (message) => receive(index, message),
      onExit() {
        gauges.delete(index);
        distributor?.lose(index);
      },
      onFatal,
    }),
  );
  const distributor = count === 1 ? null : distribute(options, children);
  return {
    async begin(init, onGauges) {
      tellGauges = onGauges;
      const nodeIds = await Promise.all(
        children.map((_, index) => nodeIdOf(nodeFolderOf(config.DATA_DIR, index))),
      );
      const starts = nodeIds.map((nodeId, index) =>
        children[index]?.begin({ ...init, position: { index, count, nodeId, nodeIds } }),
      );
      await Promise.all(starts);
    },
    running: () => children.some((child) => child.isRunning()),
    async stop(drainMs = 0) {
      for (const port of [ports.rtmp, ports.rtmps]) port?.close();
      distributor?.close();
      await Promise.all(children.map((child) => child.stop(drainMs)));
    },
  };
}

/** Distributes the connections of both ports to the processes. */
function distribute({ log, config, ports }: Options, children: readonly MediaChild[]): SocketDistributor {
  const takers = children.map(
    (child): ConnectionTaker => ({
      isReady: () => child.isReady(),
      offer: (id) => child.send({ type: 'offer', id }),
      give: (connection, socket, onLost) => child.send({ type: 'connection', ...connection }, socket, onLost),
    }),
  );
  const limits = { ...DEFAULT_CONNECTION_LIMITS, connectionsPerAddress: config.INGEST_MAX_PER_ADDRESS };
  const distributor = new SocketDistributor({ takers, limits, log });
  ports.rtmp.passTo((socket) => distributor.add(socket, 'rtmp'));
  ports.rtmps?.passTo((socket) => distributor.add(socket, 'rtmps'));
  return distributor;
}
