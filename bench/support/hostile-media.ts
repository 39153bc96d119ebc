/** Ingest and bridges in one process, like the media process: the target of `bench/hostile.ts`. */
import { Writable } from 'node:stream';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { systemClock } from '../../src/kernel/clock.ts';
import { Bridge } from '../../src/media/bridges/bridge.ts';
import { validateSource } from '../../src/media/bridges/bridge-manager.ts';
import { createDemuxer } from '../../src/media/bridges/demuxer.ts';
import { openFfmpeg } from '../../src/media/ffmpeg/program.ts';
import { createEmbeddedRtmp } from '../../src/media/ingest/embedded-rtmp.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createOutbound } from '../../src/platform/outbound/index.ts';
import { grantByName } from '../../test/rtmp/ingest.ts';

const GRANT = { streamId: 'str_bridge', maxHeight: 1080, maxFps: 60 };
const RETRY_MS = 200;

const log = createLogger('silent');
const engine = createEmbeddedRtmp({
  ...{ host: '127.0.0.1', port: 0, nodeId: 'node-1', log, clock: systemClock },
  limits: { connections: 5000, connectionsPerAddress: 5000 },
});
await engine.start({
  authorise: grantByName,
  onStart: async (session) =>
    engine.feed(session, new Writable({ write: (_bytes, _encoding, done) => done() })),
  onMedia: () => {},
  onRefused: async () => {},
  onEnd: async () => {},
});
const ffmpeg = openFfmpeg('ffmpeg');
const outbound = createOutbound({ allowPrivate: ['127.0.0.0/8'], dnsServers: [] });
let bridge: Bridge | null = null;

process.on('message', async (message: { ca?: string; bridge?: string | null }) => {
  if (message.ca !== undefined) setDefaultCACertificates([...getCACertificates('default'), message.ca]);
  if (message.bridge === undefined) return;
  await bridge?.stop(true);
  const { bridge: sourceUrl } = message;
  if (sourceUrl === null) return;
  bridge = new Bridge({
    wanted: {
      ...{ type: 'PULL_TO_STREAM', bridgeId: 'brg_1', streamId: GRANT.streamId },
      ...{ sourceUrl, autoRestart: true },
    },
    engine,
    admit: async () => GRANT,
    source: validateSource(sourceUrl),
    outbound,
    demuxer: createDemuxer(() => ffmpeg, log),
    report: () => {},
    backoffMs: [RETRY_MS],
  });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: engine.ports.rtmp });
