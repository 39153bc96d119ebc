import { Sender } from '../../media/restream/sender.ts';
import type { Muxer } from '../../media/restream/srt-push.ts';
import { loadConfig } from '../../platform/config.ts';
import { createDialer } from '../../platform/outbound/dialer.ts';
import type { SenderCommand, SenderMessage } from './sender-process.ts';

const MEASURE_MS = 5000;
const LEAVE_MS = 1500;

/** The process that sends one broadcast on (`restream-manager.ts`): its standard input has the broadcast. */
function tell(message: SenderMessage): void {
  if (process.connected) process.send?.(message, () => {});
}

const config = loadConfig();
const outbound = createDialer({ allowPrivate: config.FETCH_ALLOW_PRIVATE, dnsServers: config.DNS_SERVERS });
let muxer: Promise<Muxer> | null = null;
const sender = new Sender({
  outbound,
  async muxer(onBytes) {
    muxer ??= import('./sender-muxer.ts').then(({ createSenderMuxer }) => createSenderMuxer(config));
    return (await muxer)(onBytes);
  },
  report: (report) => tell({ type: 'report', report }),
});
const measuring = setInterval(() => tell({ type: 'bitrates', bitrates: sender.bitrates() }), MEASURE_MS);

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  clearInterval(measuring);
  // A connection that is just being made is not waited for.
  setTimeout(() => process.exit(0), LEAVE_MS);
  sender.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
}

process.stdin.on('data', (chunk: Buffer) => sender.input(chunk));
process.stdin.on('error', () => {});
process.on('message', (order: SenderCommand) => {
  if (order.type === 'want') sender.want(order.wanted);
  else stop();
});
// The media process has ended, even by kill -9: restreams must not continue without it.
process.on('disconnect', stop);
if (!process.connected) stop();
process.on('SIGTERM', stop);
process.on('SIGINT', () => {});
