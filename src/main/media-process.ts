import { type ChildProcess, fork } from 'node:child_process';
import type { FfmpegInfo } from '../media/ffmpeg/check.ts';
import type { RoomEngineChoice } from '../media/rooms/choice.ts';
import type { Logger } from '../platform/logger.ts';
import type { MediaGauges } from '../platform/metrics.ts';
import { programFile } from '../platform/root.ts';

/** What the media process is told when it starts. Secrets go over the channel, never in the environment. */
export interface MediaInit {
  type: 'init';
  databaseUrl: string;
  secretKey: string;
  rooms: RoomEngineChoice;
  /** What the first process knows of it already. */
  ffmpeg: FfmpegInfo | null;
}

/** What the media process says. `fatal` is a reason that a restart would not mend, such as a port in use. */
export type MediaMessage =
  | { type: 'ready' }
  | { type: 'fatal'; message: string }
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
 * Media passes through in short-lived buffers: a small young generation saves a quarter of the CPU. What is kept for
 * players counts as growth of the old generation, which else is marked as a whole after each 8 MB, a third of the CPU.
 */
const MEDIA_FLAGS = ['--max-semi-space-size=1', '--heap-growing-percent=100'];

interface Options {
  log: Logger;
  /** The first start failed for a reason that stays. */
  onFatal(message: string): void;
}

/** Runs the media role in a process of its own and starts it again when it dies. */
export function launchMedia({ log, onFatal }: Options): MediaLaunch {
  const listens = Promise.withResolvers<void>();
  let child: ChildProcess | null = null;
  let begun: MediaInit | null = null;
  let tellGauges: (gauges: MediaGauges) => void = () => {};
  let stopping = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;

  const hear = (message: MediaMessage) => {
    if (message.type === 'ready') {
      failures = 0;
      listens.resolve();
    } else if (message.type === 'fatal') {
      stopping = true;
      onFatal(message.message);
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
