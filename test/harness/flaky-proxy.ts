import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Cut of one connection after a number of client bytes. */
export interface Cut {
  bytes: number;
  /**
   * `reset`: both sides notice. `vanish`: the client does, the server's side stays open and silent, as when a
   * phone changes networks.
   */
  how: 'reset' | 'vanish';
}

export interface CutProxy {
  port: number;
  /** Number of cut connections. */
  cuts: number;
  /** Cuts no connection that is opened from now on. */
  heal(): void;
  close(): Promise<void>;
}

/** Starts a TCP proxy to `target` that cuts every connection according to `plan`. */
export async function startFlakyProxy(target: number, plan: () => Cut): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let isHealed = false;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const cut = isHealed ? null : plan();
    let left = cut?.bytes ?? Number.POSITIVE_INFINITY;
    let isCut = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          if (isCut) return;
          client.destroy();
          upstream.destroy();
        });
    }
    upstream.pipe(client);
    client.on('data', (chunk) => {
      if (isCut) return;
      const data = Buffer.from(chunk);
      if (!upstream.write(data.subarray(0, left))) {
        client.pause();
        upstream.once('drain', () => client.resume());
      }
      left -= data.length;
      if (left > 0) return;
      isCut = true;
      proxy.cuts += 1;
      client.destroy();
      if (cut?.how === 'reset') upstream.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const proxy: CutProxy = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cuts: 0,
    heal() {
      isHealed = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
