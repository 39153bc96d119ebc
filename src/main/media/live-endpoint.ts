import { join } from 'node:path';
import type { BroadcastStates } from '../../media/nodes/broadcast-states.ts';
import { createLocalSource } from '../../media/nodes/local-source.ts';
import { startNodeServer } from '../../media/nodes/node-server.ts';
import type { Container } from '../container.ts';
import { nodePortOf, nodeUrlOf } from './node.ts';

/** Server for other nodes that read from the media role. */
export interface LiveEndpoint {
  /** Number of requests by other nodes, by kind. */
  readonly served: Readonly<Record<string, number>>;
  /** Tells them where it is. */
  announce(): Promise<void>;
  stop(): Promise<void>;
}

interface MediaNode {
  nodeId: string;
  /** Number of the media process. */
  index: number;
  /** Data folder. */
  folder: string;
}

/** Rejects with the system's error when it cannot listen. */
export async function startLiveEndpoint(
  { config, secrets, clock, log, mediaNodes }: Container,
  { node, handle, states }: { node: MediaNode; handle: unknown; states: BroadcastStates },
): Promise<LiveEndpoint> {
  const { nodeId, index, folder } = node;
  const source = createLocalSource({ liveDir: join(folder, 'live'), log });
  const isLive = (streamId: string) => states.isLive(streamId);
  const address = { host: config.MEDIA_HOST, port: nodePortOf(config, index) };
  const server = await startNodeServer({ source, isLive, nodeId, secrets, clock, log, ...address, handle });
  const announce = () => mediaNodes.listens(nodeId, nodeUrlOf(config, { index, port: server.port }));
  await announce();
  return { served: server.served, announce, stop: () => server.stop() };
}
