import type { TestContext } from 'node:test';
import { Bridge } from '../../src/media/bridges/bridge.ts';
import { validateSource } from '../../src/media/bridges/bridge-manager.ts';
import { createDemuxer } from '../../src/media/bridges/demuxer.ts';
import type { BridgeReport, PublishGrant } from '../../src/media/contract/index.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createOutbound, type Outbound } from '../../src/platform/outbound/index.ts';
import { waitFor } from '../harness/wait-for.ts';
import { testFfmpeg } from '../live/ffmpeg.ts';
import { type FlvReader, openFlv } from '../rtmp/flv-reader.ts';
import { startIngest, type TestIngest } from '../rtmp/ingest.ts';

export interface RunningBridge {
  ingest: TestIngest;
  reports: BridgeReport[];
  last(): BridgeReport | undefined;
  /** Waits for this status. */
  when(status: BridgeReport['status'], timeoutMs?: number): Promise<BridgeReport>;
  /** Returns the frames that the stream has received, in all its publish sessions. */
  frames(): number;
  /** Sounds, likewise. */
  sounds(): number;
  stop(): Promise<void>;
}

const GRANT: PublishGrant = { streamId: 'str_1', maxHeight: 1080, maxFps: 60 };

/** Starts a bridge into a separate ingest, without a database; both end with the test. */
export async function startBridge(
  t: TestContext,
  sourceUrl: string,
  {
    autoRestart = false,
    outbound: given,
    grant = GRANT,
  }: { autoRestart?: boolean; outbound?: Outbound; grant?: PublishGrant } = {},
): Promise<RunningBridge> {
  const readers: FlvReader[] = [];
  const ingest: TestIngest = await startIngest(
    t,
    {},
    { onStart: async (session) => void readers.push(openFlv(ingest.engine, session)) },
  );
  const outbound = given ?? createOutbound({ allowPrivate: ['127.0.0.0/8'], dnsServers: [] });
  const reports: BridgeReport[] = [];
  const bridge = new Bridge({
    wanted: { type: 'PULL_TO_STREAM', bridgeId: 'brg_1', streamId: 'str_1', sourceUrl, autoRestart },
    engine: ingest.engine,
    admit: async () => grant,
    source: validateSource(sourceUrl),
    outbound,
    demuxer: createDemuxer(async () => testFfmpeg, createLogger('silent')),
    report: (report) => reports.push(report),
    backoffMs: [200, 400],
  });
  const stop = () => bridge.stop(true);
  t.after(async () => {
    await stop();
    for (const reader of readers) reader.destroy();
    if (given === undefined) await outbound.close();
  });
  const last = () => reports.at(-1);
  const tags = () => readers.flatMap((reader) => reader.tags());
  return {
    ingest,
    reports,
    last,
    stop,
    when: (status, timeoutMs = 20_000) =>
      waitFor(() => reports.find((report) => report.status === status), {
        timeoutMs,
        message: () => `${status}; reported ${JSON.stringify(reports)}`,
      }),
    frames: () => tags().filter(({ type, payload }) => type === 9 && payload[1] === 1).length,
    sounds: () => tags().filter(({ type, payload }) => type === 8 && payload[1] === 1).length,
  };
}
