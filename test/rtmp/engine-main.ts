/** Engine in a separate process, for tests that measure its memory or check that it is alive. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { systemClock } from '../../src/kernel/clock.ts';
import { createEmbeddedRtmp } from '../../src/media/ingest/embedded-rtmp.ts';
import { SENDER_GATHER_MS } from '../../src/media/restream/restream-manager.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { grantByName } from './ingest.ts';

const engine = createEmbeddedRtmp({
  host: '127.0.0.1',
  port: 0,
  nodeId: 'node-1',
  log: createLogger('silent'),
  clock: systemClock,
  limits: { connectionsPerAddress: 500 },
});
await engine.start({
  authorise: grantByName,
  onStart: async (session) => {
    // Readers are in other processes here.
    process.send?.({
      readPort: await serve((socket) => engine.feed(session, socket)),
      senderPort: await serve((socket) => engine.feed(session, socket, SENDER_GATHER_MS)),
    });
  },
  onMedia: () => {},
  onRefused: async () => {},
  onEnd: async () => {},
});
process.on('message', () => {
  // The second collection completes the release of buffers that the first one has found.
  global.gc?.();
  global.gc?.();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  process.send?.({ memory: { residentBytes: rss, liveBytes: heapUsed + arrayBuffers } });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: engine.ports.rtmp });

/** @returns its port. */
async function serve(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer(onSocket).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port }: AddressInfo = Object(server.address());
  return port;
}
