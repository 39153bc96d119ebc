import { join } from 'node:path';
import { createLocalSource } from '../media/nodes/local-source.ts';
import { startNodeServer } from '../media/nodes/node-server.ts';
import type { Container } from './container.ts';

/** Server for other nodes that read from the media role. */
export interface LiveEndpoint {
  /** Number of requests by other nodes, by kind. */
  readonly served: Readonly<Record<string, number>>;
  /** Tells them where it is. */
  announce(): Promise<void>;
  stop(): Promise<void>;
}

/** Rejects with the system's error when it cannot listen. */
export async function startLiveEndpoint(
  container: Container,
  nodeId: string,
  handle: unknown,
): Promise<LiveEndpoint> {
  const { config, secrets, clock, log, mediaNodes } = container;
  const { MEDIA_HOST: host, MEDIA_PORT: port, MEDIA_URL: url } = config;
  const source = createLocalSource({ liveDir: join(config.DATA_DIR, 'live'), log });
  const server = await startNodeServer({ source, nodeId, secrets, clock, log, host, port, handle });
  const name = host.includes(':') ? `[${host}]` : host;
  const announce = () => mediaNodes.listens(nodeId, url ?? `http://${name}:${server.port}`);
  await announce();
  return { served: server.served, announce, stop: () => server.stop() };
}
