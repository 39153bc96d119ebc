import { parseArgs } from 'node:util';

const LOOK_MS = 500;

/** Processes whose end is to be ours. */
export interface Parents {
  /** Our own parent. */
  pid: number;
  /** Those above it. */
  others: number[];
}

/**
 * By `--parents=PID,PID…`, which the supervisor gives: itself, and who started it. Without that it is whoever started
 * this process, a shell for example.
 */
export function parentsOf(args: string[], own = process.ppid): Parents {
  const { values } = parseArgs({ args, options: { parents: { type: 'string' } } });
  const [pid = own, ...others] = values.parents?.split(',').map(Number) ?? [];
  return { pid, others };
}

/** Calls `onGone` when one of them has ended, however: nobody is told of the kill -9 of a parent. */
export function onParentExit({ pid, others }: Parents, onGone: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === pid && others.every(lives)) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
}

/** The supervisor starts again what was ready once; nobody else is told. */
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
