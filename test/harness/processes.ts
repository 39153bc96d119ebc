import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';

/** Returns the children of a process whose command line contains all the texts. */
export function childrenOf(pid: number, ...words: string[]): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().trim().split('\n');
  return lines
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter(
      (match) => Number(match?.[2]) === pid && words.every((word) => match?.[3]?.includes(word) === true),
    )
    .map((match) => Number(match?.[1]));
}

/** Returns the single process, and fails if there are more. */
export function singleItem(pids: readonly number[]): number {
  assert.equal(pids.length, 1, `one process, found ${pids.length}`);
  return pids[0] ?? -1;
}

/** Reports whether the process is gone. */
export function hasEnded(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

/** Kills a process and waits until it has exited; it may have exited before. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
