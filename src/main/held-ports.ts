import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config, SocketName } from '../platform/config.ts';
import { nodePortOf } from './media/node.ts';

/** Time for another process of ours to release its port after losing its parent. */
const PORT_RELEASE_MS = 2000;
const PAUSE_MS = 100;
/** Connections that wait for the server of a port; later ones are closed. */
const MAX_WAITING = 100;
const DEFAULT_METRICS_PORT = 9464;

/** A port that listens from the start of the program on, before there is a server for its connections. */
export interface HeldPort {
  readonly port: number;
  /** The listening socket, as `server.listen(handle)` and `process.send(message, handle)` take it. */
  readonly handle: Server | undefined;
  /** Starts the server on the port, and passes it the waiting connections. */
  giveTo(server: Server): Promise<void>;
  /** Passes on each connection unread and paused, beginning with those that wait. */
  passTo(listener: (socket: Socket) => void): void;
  /** Stops listening; harmless after `giveTo`. */
  close(): void;
}

/** The ports of this node's roles; null where it has no such role. */
export interface HeldPorts {
  api: HeldPort | null;
  metrics: HeldPort;
  media: MediaPorts | null;
}

/** Ports of the media processes. */
export interface MediaPorts {
  rtmp: HeldPort;
  /** Null without a certificate. */
  rtmps: HeldPort | null;
  /** Ports for other nodes that show the broadcasts, one for each process. */
  nodes: readonly HeldPort[];
}

/**
 * Listens on every port of the configuration, always in the same order: of two concurrent starts the first
 * one gets all.
 *
 * @param options `onHeld` gets each port as soon as it listens; `inherited` has the file descriptors of ports that
 *   listen already.
 * @throws the listener's error (EADDRINUSE, EACCES).
 */
export async function holdPorts(
  { ROLES, HOST, PORT, METRICS_HOST, METRICS_PORT, ...media }: Config,
  { hasCertificate, inherited, onHeld }: HoldOptions,
): Promise<HeldPorts> {
  const hold = async (name: SocketName | null, port: number, host: string, patienceMs = PORT_RELEASE_MS) => {
    const fd = name === null ? undefined : inherited.get(name);
    const one = await holdPort(fd === undefined ? { port, host } : { fd }, patienceMs);
    onHeld(one);
    return one;
  };
  const api = ROLES.includes('api') ? await hold('api', PORT, HOST) : null;
  const holdNodePorts = async () => {
    const held: HeldPort[] = [];
    for (let index = 0; index < media.MEDIA_PROCESSES; index += 1)
      held.push(await hold(index === 0 ? 'media' : null, nodePortOf(media, index), media.MEDIA_HOST));
    return held;
  };
  const mediaPorts = ROLES.includes('media')
    ? {
        rtmp: await hold('rtmp', media.RTMP_PORT, HOST),
        rtmps: hasCertificate ? await hold('rtmps', media.RTMPS_PORT, HOST) : null,
        nodes: await holdNodePorts(),
      }
    : null;
  const holdMetrics = (port: number, patienceMs?: number) => hold('metrics', port, METRICS_HOST, patienceMs);
  const metrics =
    METRICS_PORT === undefined
      ? await holdMetrics(DEFAULT_METRICS_PORT, 0).catch(() => holdMetrics(0))
      : await holdMetrics(METRICS_PORT);
  return { api, metrics, media: mediaPorts };
}

interface HoldOptions {
  hasCertificate: boolean;
  inherited: ReadonlyMap<SocketName, number>;
  onHeld(port: HeldPort): void;
}

/** Where to listen: an address, or the file descriptor of a socket that listens already. */
type ListenTarget = { port: number; host: string } | { fd: number };

async function holdPort(target: ListenTarget, patienceMs: number): Promise<HeldPort> {
  const waiting: Socket[] = [];
  let accept = (socket: Socket): void => {
    if (waiting.length < MAX_WAITING) waiting.push(socket);
    else socket.destroy();
  };
  const holder = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) =>
    accept(socket),
  );
  await listenPatiently(holder, target, patienceMs);
  const address = holder.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    handle: Reflect.get(holder, '_handle'),
    async giveTo(server) {
      server.listen(holder);
      await once(server, 'listening');
      for (const socket of waiting.splice(0)) {
        server.emit('connection', socket);
        socket.resume();
      }
    },
    passTo(listener) {
      accept = listener;
      for (const socket of waiting.splice(0)) listener(socket);
    },
    close() {
      holder.close();
      for (const socket of waiting.splice(0)) socket.destroy();
    },
  };
}

async function listenPatiently(server: Server, target: ListenTarget, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      server.listen(target);
      await once(server, 'listening');
      return;
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
