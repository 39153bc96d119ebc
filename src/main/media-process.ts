import { type ChildProcess, fork, type SendHandle } from 'node:child_process';
import type { FfmpegInfo } from '../media/ffmpeg/check.ts';
import type { RoomEngineSelection } from '../media/rooms/engine-selection.ts';
import type { Logger } from '../platform/logger.ts';
import type { MediaGauges } from '../platform/metrics.ts';
import { programFile } from '../platform/root.ts';
import type { MediaPorts } from './held-ports.ts';

/** Message that starts the media process. Secrets are sent over the channel, never in the environment. */
export interface MediaInit {
  type: 'init';
  databaseUrl: string;
  secretKey: string;
  rooms: RoomEngineSelection;
  /** Information about ffmpeg, if the first process has it already. */
  ffmpeg: FfmpegInfo | null;
}

/** A port on which the media process is to listen, sent with its socket. */
interface MediaPort {
  type: 'port';
  name: keyof MediaPorts;
  /** The socket is sent back. */
  isReturned: boolean;
}

export type MediaOrder = MediaInit | MediaPort;

/** Sockets that listen on the ports. */
export type MediaHandles = { [Name in keyof MediaPorts]?: SendHandle };

/** Messages of the media process. `fatal` is a reason that a restart would not fix, such as a port in use. */
export type MediaMessage =
  | { type: 'ready' }
  | { type: 'fatal'; message: string }
  | { type: 'port'; name: keyof MediaPorts }
  | ({ type: 'gauges' } & MediaGauges);

/** The media process, from its start on: it loads its code while there is no database yet. */
export interface MediaLaunch {
  /** Tells it to take publishes, now and whenever it is started again. Resolves when it listens. */
  begin(init: MediaInit, onGauges: (gauges: MediaGauges) => void): Promise<void>;
  running(): boolean;
  /** Drains and ends it. */
  stop(): Promise<void>;
}

const ENTRY = programFile('src/main/media');
const BACKOFF_MS = [200, 500, 1000, 2000, 5000];
const STOP_MS = 12_000;
/**
 * Media passes through in short-lived buffers: a small young generation saves a quarter of the CPU. Data
 * retained for players counts as growth of the old generation, which would otherwise be marked as a whole
 * after each 8 MB, a third of the CPU.
 */
const MEDIA_FLAGS = ['--max-semi-space-size=1', '--heap-growing-percent=100'];

interface Options {
  log: Logger;
  ports: MediaPorts;
  /** The first start failed for a reason that stays. */
  onFatal(message: string): void;
}

/**
 * Runs the media role in a process of its own and starts it again when it dies. The ports stay open all the time
 * (docs/decisions/startup-and-idle.md#ports).
 */
export function launchMedia({ log, ports, onFatal }: Options): MediaLaunch {
  const sockets = keepSockets(ports);
  const listens = Promise.withResolvers<void>();
  let child: ChildProcess | null = null;
  let begun: MediaInit | null = null;
  let tellGauges: (gauges: MediaGauges) => void = () => {};
  let stopping = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  const hear = (message: MediaMessage, handle: SendHandle) => {
    if (message.type === 'ready') {
      failures = 0;
      listens.resolve();
    } else if (message.type === 'fatal') {
      stopping = true;
      onFatal(message.message);
    } else if (message.type === 'port') {
      sockets.keep(message.name, handle);
    } else {
      tellGauges(message);
    }
  };
  const launch = () => {
    const started = fork(ENTRY, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [...process.execArgv, ...MEDIA_FLAGS],
    });
    child = started;
    started.on('message', hear);
    started.on('error', (error) => log.error({ err: error }, 'the media process could not be reached'));
    started.on('exit', (code, signal) => {
      child = null;
      if (stopping) return;
      const delay = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 5000;
      failures += 1;
      log.error({ code, signal, restartInMs: delay }, 'the media process ended');
      timer = setTimeout(launch, delay);
    });
    sockets.sendTo(started);
    if (begun !== null) started.send(begun, () => {});
  };
  launch();
  return {
    begin(init, onGauges) {
      begun = init;
      tellGauges = onGauges;
      child?.send(init, () => {});
      return listens.promise;
    },
    running: () => child !== null,
    async stop() {
      stopping = true;
      clearTimeout(timer);
      sockets.close();
      const ending = child;
      if (ending === null || ending.exitCode !== null) return;
      const ended = new Promise<void>((resolve) => ending.once('exit', () => resolve()));
      ending.kill('SIGTERM');
      const kill = setTimeout(() => ending.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(kill);
    },
  };
}

/**
 * Retains the listening sockets of the media process during its restart: new connections wait in the system's
 * queue. A held port accepts connections, so it is replaced by a copy of its socket, which does not: the
 * first media process sends it back.
 */
function keepSockets(ports: MediaPorts) {
  const copies = new Map<string, SendHandle>();
  const names = ['rtmp', 'rtmps', 'nodes'] as const;
  return {
    sendTo(child: ChildProcess): void {
      for (const name of names) {
        const held = ports[name];
        if (held === null) continue;
        const order: MediaPort = { type: 'port', name, isReturned: !copies.has(name) };
        child.send(order, copies.get(name) ?? held.handle, () => {});
      }
    },
    keep(name: keyof MediaPorts, copy: SendHandle): void {
      copies.set(name, copy);
      ports[name]?.close();
    },
    close(): void {
      for (const copy of copies.values()) if (copy !== undefined && 'close' in copy) copy.close();
      for (const name of names) ports[name]?.close();
    },
  };
}
