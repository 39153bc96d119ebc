import type { SrtUrl } from '../../kernel/pull-url.ts';
import { READ_BUDGETS, ReadMeter } from '../read-budget.ts';
import { LiveLane } from './live-playout.ts';
import { planBudget } from './paced-socket.ts';
import type { SourceContext } from './source.ts';
import { SrtReceiver } from './srt-receiver.ts';

const RESOLVE_MS = 5000;
const DEFAULT_LATENCY_MS = 200;
/** Limit of bytes waiting for ffmpeg, which reads as fast as data arrives unless it is stuck. */
const MAX_QUEUED_BYTES = 16 * 2 ** 20;
/** Memory of a datagram that waits, without its payload. */
const ITEM_BYTES = 256;

/** Calls an SRT listener and takes the MPEG-TS that it sends. */
export async function runSrt(address: SrtUrl, context: SourceContext): Promise<void> {
  const { outbound, demuxer, grant, begin, signal } = context;
  const { server, streamId, guarded: url } = address;
  const socket = await outbound.datagrams({ url, port: server.port, timeoutMs: RESOLVE_MS });
  const lane = new LiveLane(begin);
  const stuck = Promise.withResolvers<never>();
  stuck.promise.catch(() => {});
  const meter = new ReadMeter(planBudget(READ_BUDGETS.srtData, grant));
  let queuedBytes = 0;
  let writing = Promise.resolve();
  const receiver = new SrtReceiver({
    socket,
    streamId,
    latencyMs: Number(server.query.get('latency') ?? DEFAULT_LATENCY_MS),
    onBytes(bytes) {
      const heldBytes = bytes.length + ITEM_BYTES;
      queuedBytes += heldBytes;
      // The sender has no flow control.
      if (queuedBytes > MAX_QUEUED_BYTES || meter.add(1, bytes.length) > 0) {
        receiver.fail('sends more than can be read in time');
        return;
      }
      writing = writing.then(async () => {
        await (await demuxing).write(bytes);
        queuedBytes -= heldBytes;
      });
      writing.catch(stuck.reject);
    },
  });
  // The demuxer starts only after the handshake: a source that does not respond starts no program.
  const demuxing = receiver.accepted.then(() =>
    demuxer(
      'mpegts',
      (tag) => lane.tag(tag),
      () => lane.flush(),
    ),
  );
  const broken = demuxing.then(({ failed }) => failed);
  broken.catch(() => {});
  signal.addEventListener('abort', () => receiver.end(), { once: true });
  if (signal.aborted) receiver.end();
  try {
    const failure = await Promise.race([receiver.closed, lane.silence, stuck.promise, broken]);
    if (failure !== null) throw failure;
    await writing;
    if (!signal.aborted) await (await demuxing).end();
  } finally {
    lane.end();
    receiver.end();
    const demux = await demuxing.catch(() => null);
    await demux?.stop();
  }
}
