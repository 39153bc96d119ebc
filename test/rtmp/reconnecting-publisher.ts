import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Publisher, type PublisherOptions, startPublisher } from './publisher.ts';

/** An encoder that connects again whenever it is cut off, as OBS does. */
export interface ReconnectingPublisher {
  stop(): Promise<void>;
}

const RETRY_MS = 200;

/** @param port of RTMP, on this machine. */
export function keepPublishing(
  { port, key }: { port: number; key: string },
  options: Omit<PublisherOptions, 'url'>,
): ReconnectingPublisher {
  let isOver = false;
  let encoder: Publisher | null = null;
  const publishing = (async () => {
    while (!isOver) {
      // Starting ffmpeg for each rejection would take CPU time from the recovering platform.
      if (!(await listens(port)) || isOver) {
        await sleep(RETRY_MS);
        continue;
      }
      encoder = startPublisher({ url: `rtmp://127.0.0.1:${port}/live/${key}`, ...options });
      await encoder.exited;
    }
  })();
  return {
    async stop() {
      isOver = true;
      await encoder?.stop();
      await publishing;
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
