import { connect } from 'node:net';

interface Target {
  host: string;
  port: number;
  /** Sent once connected; the other side has to answer it with something. Without one a connection is enough. */
  greeting?: Uint8Array;
  timeoutMs: number;
}

/**
 * Is a service of the operator's own there? For addresses of the configuration only: nothing guards them.
 *
 * @throws {Error} when it cannot be reached, ends the connection without an answer, or takes too long.
 */
export function isReachable({ host, port, greeting, timeoutMs }: Target): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal: AbortSignal.timeout(timeoutMs) });
    const finish = (error?: Error) => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    socket.on('error', finish);
    socket.on('close', () => reject(new Error(`${host}:${port} closed the connection`)));
    socket.on('data', () => finish());
    socket.on('connect', () => (greeting === undefined ? finish() : socket.write(greeting)));
  });
}
