/** An engine in a process of its own, for tests that measure its memory or prove that it lives. */
import { type AddressInfo, createServer } from 'node:net';
import { systemClock } from '../../src/kernel/clock.ts';
import { createEmbeddedRtmp } from '../../src/media/ingest/embedded-rtmp.ts';
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
    const server = createServer((socket) => engine.feed(session, socket));
    server.listen(0, '127.0.0.1', () => {
      const { port }: AddressInfo = Object(server.address());
      process.send?.({ readPort: port });
    });
  },
  onMedia: () => {},
  onRefused: async () => {},
  onEnd: async () => {},
});
process.on('message', () => {
  global.gc?.();
  process.send?.({ rssBytes: process.memoryUsage().rss });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: engine.ports.rtmp });
