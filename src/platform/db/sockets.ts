import { Socket } from 'node:net';

/** Connection target as the driver describes it. */
interface Target {
  path?: string | false | null;
  host: string[];
  port: number[];
}

/** The connections of a pool, which can be destroyed together. */
export interface Sockets {
  /** The driver's own way to open one, for its option `socket`: it takes the hosts in turn. */
  open(target: Target): Socket;
  destroyAll(): void;
}

export function createSockets(): Sockets {
  const sockets = new Set<Socket>();
  let opened = 0;
  return {
    open({ path, host, port }) {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      // Errors after the connection was destroyed are ignored.
      socket.on('error', () => {});
      const at = opened++ % host.length;
      if (typeof path === 'string') return socket.connect(path);
      // The driver reads the name of the host for TLS here.
      Object.assign(socket, { host: host[at], port: port[at] });
      return socket.connect(port[at] ?? 5432, host[at] ?? 'localhost');
    },
    destroyAll() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
