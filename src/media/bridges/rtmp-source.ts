import type { RtmpUrl } from '../../kernel/pull-url.ts';
import { RtmpClient } from '../protocols/rtmp/client.ts';
import { MessageType, type RtmpMessage } from '../protocols/rtmp/messages.ts';
import { READ_BUDGETS } from '../read-budget.ts';
import { PushError, toPushError } from '../restream/failure.ts';
import { LiveLane } from './live-playout.ts';
import { PacedSocket, planBudget } from './paced-socket.ts';
import type { SourceContext } from './source.ts';

const CONNECT_MS = 8000;
/** Time from the connection to the accepted play command. */
const ACCEPT_MS = 8000;

/** Plays a stream of an RTMP server (Adobe RTMP 1.0, section 7.2.2.1). */
export async function runRtmp(
  address: RtmpUrl,
  { outbound, grant, begin, signal }: SourceContext,
): Promise<void> {
  const { server, scheme, guarded: url, name } = address;
  const tls = scheme === 'rtmps';
  const socket = await outbound.connect({ url, port: server.port, tls, timeoutMs: CONNECT_MS });
  const lane = new LiveLane(begin);
  const over = Promise.withResolvers<void>();
  const late = setTimeout(
    () => over.reject(new PushError('normal', 'The source did not respond to play in time.')),
    ACCEPT_MS,
  );
  socket.on('error', (error) => over.reject(toPushError(error, 'source')));
  socket.on('close', () => over.reject(new PushError('normal', 'The source closed the connection.')));
  signal.addEventListener('abort', () => over.resolve(), { once: true });
  if (signal.aborted) over.resolve();
  const paced = new PacedSocket(socket, planBudget(READ_BUDGETS.rtmpPull, grant));
  new RtmpClient({
    socket,
    address: server,
    streamKey: name,
    onAccepted: () => clearTimeout(late),
    onFailure: over.reject,
    play: { onMedia: (message) => take(lane, paced, message), onEnded: () => over.resolve() },
  });
  try {
    await Promise.race([over.promise, lane.silence]);
  } finally {
    clearTimeout(late);
    lane.end();
    socket.destroy();
  }
}

function take(lane: LiveLane, paced: PacedSocket, { type, timestamp, payload }: RtmpMessage): void {
  const isAmf3 = type === MessageType.dataAmf3;
  // The reader uses its memory again.
  const kept = Buffer.from(isAmf3 ? payload.subarray(1) : payload);
  lane.tag({ type: isAmf3 ? MessageType.data : type, timestamp, payload: kept });
  lane.flush();
  const wait = lane.wait();
  if (wait !== null) paced.hold(wait);
}
