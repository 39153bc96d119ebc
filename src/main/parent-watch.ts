import { parseArgs } from 'node:util';

const POLL_MS = 500;

/** Processes whose end is to be ours. */
export interface Parents {
  /** Our own parent. */
  pid: number;
  /** Ancestors above the parent. */
  others: number[];
}

/**
 * Reads `--parents=PID,PID…`, which the supervisor passes: itself and the process that started it. Without
 * the option it is the process that started this one, such as a shell.
 */
export function parentsOf(args: string[], own = process.ppid): Parents {
  const { values } = parseArgs({ args, options: { parents: { type: 'string' } } });
  const [pid = own, ...others] = values.parents?.split(',').map(Number) ?? [];
  return { pid, others };
}

/** Calls `onGone` when one of them has ended, by polling: a kill -9 of a parent sends no signal. */
export function onParentExit({ pid, others }: Parents, onGone: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === pid && others.every(lives)) return;
    clearInterval(timer);
    onGone();
  }, POLL_MS);
  timer.unref();
}

/**
 * Signals readiness to the supervisor, which restarts a process that was ready once; other parents get no
 * signal.
 */
export function signalReady({ pid }: Parents, args: readonly string[]): void {
  if (args.length > 0 && process.ppid === pid) process.kill(pid, 'SIGUSR1');
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
