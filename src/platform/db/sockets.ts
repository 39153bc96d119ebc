import { Socket } from 'node:net';

/** What the driver says of where to connect. */
interface Target {
  path?: string | false | null;
  host: string[];
  port: number[];
}

/** The connections of a pool, to be given up all at once. */
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
      // Whoever has given it up hears no more of it.
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
