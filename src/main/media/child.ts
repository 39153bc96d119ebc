import { type ChildProcess, fork, type SendHandle } from 'node:child_process';
import type { FfmpegInfo } from '../../media/ffmpeg/check.ts';
import type { RoomEngineSelection } from '../../media/rooms/engine-selection.ts';
import type { Logger } from '../../platform/logger.ts';
import type { MediaGauges } from '../../platform/metrics.ts';
import { programFile } from '../../platform/root.ts';
import type { HeldPort } from '../held-ports.ts';
import type { MediaProcessPosition } from './node.ts';
import type { EncoderProtocol } from './socket-distributor.ts';

/** Data that the media processes need. Secrets are sent over the channel, never in the environment. */
export interface MediaInit {
  type: 'init';
  databaseUrl: string;
  secretKey: string;
  rooms: RoomEngineSelection;
  /** Information about ffmpeg, if the first process has it already. */
  ffmpeg: FfmpegInfo | null;
}

/** Message that starts the role in a media process. */
export interface MediaStart extends MediaInit {
  position: MediaProcessPosition;
}

type MediaPortName = 'rtmp' | 'rtmps' | 'nodes';

/** Orders to a media process. */
export type MediaOrder =
  | MediaStart
  /** A port on which it is to listen, sent with its socket, which is sent back with `isReturned`. */
  | { type: 'port'; name: MediaPortName; isReturned: boolean }
  /** Asks whether it takes a connection. */
  | { type: 'offer'; id: number }
  /** A connection of an encoder, sent with its socket. */
  | { type: 'connection'; id: number; protocol: EncoderProtocol };

/** Sockets that listen on the ports. */
export type MediaHandles = { [Name in MediaPortName]?: SendHandle };

/** Messages of a media process. `fatal` is a reason that a restart would not fix, such as a port in use. */
export type MediaMessage =
  | { type: 'ready' }
  | { type: 'fatal'; message: string }
  | { type: 'port'; name: MediaPortName }
  /** It takes an offered connection. */
  | { type: 'accept'; id: number }
  /** A connection has ended. */
  | { type: 'closed'; id: number }
  | ({ type: 'gauges' } & MediaGauges);

const ENTRY = programFile('src/main/media/media');
const BACKOFF_MS = [200, 500, 1000, 2000, 5000];
const STOP_MS = 12_000;
/**
 * Media passes through in short-lived buffers: a small young generation saves a quarter of the CPU. Data
 * retained for players counts as growth of the old generation, which would otherwise be marked as a whole
 * after each 8 MB, a third of the CPU.
 */
const MEDIA_FLAGS = ['--max-semi-space-size=1', '--heap-growing-percent=100'];

/** One media process, restarted when it dies. */
export interface MediaChild {
  /** Starts the role, now and after each restart. Resolves when it listens for the first time. */
  begin(start: MediaStart): Promise<void>;
  /** Reports whether there is a process. */
  isRunning(): boolean;
  /** Reports whether the process has started its role. */
  isReady(): boolean;
  /** @param onFailed called when the message was not sent. */
  send(order: MediaOrder, handle?: SendHandle, onFailed?: () => void): void;
  /** Drains and ends it. @param drainMs time for which its broadcasts may continue. */
  stop(drainMs: number): Promise<void>;
}

interface Options {
  log: Logger;
  /** Ports on which the process listens. */
  ports: Partial<Record<MediaPortName, HeldPort | null>>;
  onMessage(message: MediaMessage): void;
  onExit(): void;
  /** Called when the first start fails for a permanent reason. */
  onFatal(message: string): void;
}

/** Starts a media process, which loads its code while there is no database yet. */
export function superviseMedia({ log, ports, onMessage, onExit, onFatal }: Options): MediaChild {
  const sockets = keepSockets(ports);
  const listens = Promise.withResolvers<void>();
  let child: ChildProcess | null = null;
  let start: MediaStart | null = null;
  let isReady = false;
  let hasListened = false;
  let isStopping = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  const receive = (message: MediaMessage, handle: SendHandle) => {
    if (message.type === 'ready') {
      failures = 0;
      isReady = true;
      hasListened = true;
      listens.resolve();
    } else if (message.type === 'fatal') {
      // Afterwards the reason may pass, such as an unavailable database: the process is restarted.
      if (hasListened) return log.error({ reason: message.message }, 'the media process could not start');
      isStopping = true;
      onFatal(message.message);
    } else if (message.type === 'port') {
      sockets.keep(message.name, handle);
    } else {
      onMessage(message);
    }
  };
  const launch = () => {
    const started = fork(ENTRY, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [...process.execArgv, ...MEDIA_FLAGS],
    });
    child = started;
    started.on('message', receive);
    started.on('error', (error) => log.error({ err: error }, 'the media process could not be reached'));
    started.on('exit', (code, signal) => {
      child = null;
      isReady = false;
      onExit();
      if (isStopping) return;
      const delay = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 5000;
      failures += 1;
      log.error({ code, signal, restartInMs: delay }, 'the media process ended');
      timer = setTimeout(launch, delay);
    });
    sockets.sendTo(started);
    if (start !== null) started.send(start, () => {});
  };
  launch();
  return {
    begin(order) {
      start = order;
      child?.send(order, () => {});
      return listens.promise;
    },
    isRunning: () => child !== null,
    isReady: () => isReady,
    send(order, handle, onFailed) {
      if (child === null) return onFailed?.();
      child.send(order, handle, (error) => {
        if (error !== null) onFailed?.();
      });
    },
    async stop(drainMs) {
      isStopping = true;
      clearTimeout(timer);
      sockets.close();
      if (child !== null) await end(child, drainMs);
    },
  };
}

async function end(child: ChildProcess, drainMs: number): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  // Ends the wait for broadcasts, too (drain.ts).
  if (drainMs === 0 && child.connected) child.disconnect();
  const kill = setTimeout(() => child.kill('SIGKILL'), drainMs + STOP_MS);
  await ended;
  clearTimeout(kill);
}

/**
 * Retains the listening sockets of the media process during its restart: new connections wait in the system's
 * queue. A held port accepts connections, so it is replaced by a copy of its socket, which does not: the
 * first media process sends it back.
 */
function keepSockets(ports: Options['ports']) {
  const copies = new Map<MediaPortName, SendHandle>();
  const names = ['rtmp', 'rtmps', 'nodes'] as const;
  return {
    sendTo(child: ChildProcess): void {
      for (const name of names) {
        const held = ports[name] ?? null;
        if (held === null) continue;
        const order: MediaOrder = { type: 'port', name, isReturned: !copies.has(name) };
        child.send(order, copies.get(name) ?? held.handle, () => {});
      }
    },
    keep(name: MediaPortName, copy: SendHandle): void {
      copies.set(name, copy);
      ports[name]?.close();
    },
    close(): void {
      for (const copy of copies.values()) if (copy !== undefined && 'close' in copy) copy.close();
      for (const name of names) ports[name]?.close();
    },
  };
}
