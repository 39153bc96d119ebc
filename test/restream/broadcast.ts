import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import type { DesiredPush, PushReport } from '../../src/media/contract/index.ts';
import { createMuxer } from '../../src/media/restream/muxer.ts';
import { Sender } from '../../src/media/restream/sender.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createOutbound, type OutboundOptions } from '../../src/platform/outbound/index.ts';
import { testFfmpeg } from '../live/ffmpeg.ts';
import { startIngest, type TestIngest } from '../rtmp/ingest.ts';
import { type Publisher, type PublisherOptions, startPublisher } from '../rtmp/publisher.ts';

export interface SentBroadcast {
  sender: Sender;
  reports: PushReport[];
  /** Returns the last report on a target. */
  last(targetId: string): PushReport | undefined;
  ingest: TestIngest;
  publish(options?: Partial<PublisherOptions>): Publisher;
}

export const LOOPBACK: OutboundOptions = { allowPrivate: ['127.0.0.0/8'], dnsServers: [] };

/** An encoder, our ingest, and a sender in this process; all of it ends with the test. */
export async function startBroadcast(
  t: TestContext,
  given: { outbound?: OutboundOptions; backoffMs?: readonly number[] } = {},
): Promise<SentBroadcast> {
  const reports: PushReport[] = [];
  const outbound = createOutbound(given.outbound ?? LOOPBACK);
  const log = createLogger('silent');
  const sender = new Sender({
    outbound,
    muxer: createMuxer(async () => testFfmpeg, log),
    report: (report) => reports.push(report),
    backoffMs: given.backoffMs ?? [100, 200],
  });
  const ingest = await startIngest(
    t,
    {},
    {
      onMedia: (session) => {
        if (feeding.has(session.sessionId)) return;
        feeding.add(session.sessionId);
        // Copies each chunk, because the reader's buffer is reused as it would be by a pipe.
        const reader = new Writable({
          write: (chunk, _encoding, done) => {
            sender.input(Buffer.from(chunk));
            done();
          },
        });
        ingest.engine.feed(session, reader);
      },
    },
  );
  const feeding = new Set<string>();
  t.after(async () => {
    await sender.stop();
    await outbound.close();
  });
  return {
    sender,
    reports,
    last: (targetId) => reports.findLast((report) => report.targetId === targetId),
    ingest,
    publish(options = {}) {
      const publisher = startPublisher({ url: ingest.url('key-a'), ...options });
      t.after(() => publisher.kill('SIGKILL'));
      return publisher;
    },
  };
}

export function wanted(targetId: string, url: string, more: Partial<DesiredPush> = {}): DesiredPush {
  return {
    targetId,
    revision: 1,
    streamId: 'str_a',
    platform: 'CUSTOM',
    url,
    streamKey: targetId,
    passphrase: null,
    ...more,
  };
}
