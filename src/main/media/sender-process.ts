import { fork } from 'node:child_process';
import type { PushReport } from '../../media/contract/index.ts';
import type { SenderEvents, SenderProcess } from '../../media/restream/restream-manager.ts';
import type { VerifiedPush } from '../../media/restream/verified-keys.ts';
import { ownEnvironment } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import { programFile } from '../../platform/root.ts';

/** Commands to a sender; stream keys are sent over the channel, never as arguments or in the environment. */
export type SenderCommand = { type: 'want'; wanted: readonly VerifiedPush[] } | { type: 'stop' };

/** Messages of a sender. */
export type SenderMessage =
  | { type: 'report'; report: PushReport }
  | { type: 'bitrates'; bitrates: [targetId: string, kbps: number][] };

const ENTRY = programFile('src/main/media/sender');
const STOP_MS = 2000;
/** The first as for the media process, and for the same reason; with so small a heap helpers of the collector cost more than they do. */
export const SENDER_FLAGS = ['--max-semi-space-size=1', '--single-threaded-gc'];

export interface LaunchOptions {
  log: Logger;
  /** Folder of the compiled code, which speeds up the next process. It must not be writable by others. */
  cacheDir: string;
}

/** Starts a process that sends one broadcast on; it ends with this one. */
export function launchSender(
  { onReport, onBitrates }: SenderEvents,
  { log, cacheDir }: LaunchOptions,
): SenderProcess {
  const child = fork(ENTRY, {
    env: ownEnvironment({ NODE_COMPILE_CACHE: cacheDir }),
    stdio: ['pipe', 'inherit', 'inherit', 'ipc'],
    execArgv: [...process.execArgv.filter((flag) => !flag.startsWith('--max-')), ...SENDER_FLAGS],
  });
  const { stdin } = child;
  if (stdin === null) throw new Error('a sender has no standard input');
  stdin.on('error', () => {});
  child.on('message', (message: SenderMessage) => {
    if (message.type === 'report') onReport(message.report);
    else onBitrates(message.bitrates);
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.on('error', (error) => {
      log.error({ err: error }, 'a sender could not be reached');
      // One that was never started has no exit.
      if (child.pid === undefined) resolve();
    });
  });
  const tell = (order: SenderCommand) => {
    if (child.connected) child.send(order, () => {});
  };
  return {
    stdin,
    exited,
    want: (wanted) => tell({ type: 'want', wanted }),
    async stop() {
      tell({ type: 'stop' });
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(kill);
    },
  };
}
