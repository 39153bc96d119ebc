import type { PushUrl } from '../../../src/kernel/push-url.ts';
import { RtmpClient } from '../../../src/media/protocols/rtmp/client.ts';
import {
  readControl,
  readHandshake,
  readLosses,
  readSpan,
} from '../../../src/media/protocols/srt/packets.ts';
import { toPushError } from '../../../src/media/restream/failure.ts';
import { FakeSocket, letReadersFinish } from '../fake-socket.ts';
import type { FuzzTarget } from '../runner.ts';

const ADDRESS: PushUrl = {
  scheme: 'rtmp',
  host: '127.0.0.1',
  port: 1935,
  app: 'live',
  query: new URLSearchParams(),
  guarded: 'rtmp://127.0.0.1:1935/live',
};
const MAX_LOSSES = 512;

/** Fuzzes the replies of a server to a publish and to a play. */
async function replies(input: Buffer): Promise<void> {
  for (const isPlay of [false, true]) {
    const socket = new FakeSocket();
    let fault: unknown = null;
    new RtmpClient({
      ...{ socket, address: ADDRESS, streamKey: 'a', onAccepted() {} },
      onFailure(failure) {
        // Message of unexpected errors.
        if (failure.message === toPushError(new Error('any')).message) fault = failure;
        socket.destroy();
      },
      ...(isPlay ? { play: { onMedia() {}, onEnded: () => socket.destroy() } } : {}),
    });
    socket.receive(input);
    await letReadersFinish(socket);
    if (fault !== null) throw fault;
  }
}

function srt(input: Buffer): void {
  const packet = readControl(input);
  if (packet === null) return;
  readHandshake(packet.body);
  readSpan(packet.body);
  const losses = readLosses(packet.body, MAX_LOSSES);
  if (losses.length > MAX_LOSSES) throw new Error(`${losses.length} losses were read`);
}

export const targets: Record<string, FuzzTarget> = { 'rtmp-replies': replies, srt };
