import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The process id in `postmaster.pid` while that process lives, else null. */
export function findRunningPostmaster(cluster: string): number | null {
  try {
    const pid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 0 && alive(pid) ? pid : null;
  } catch {
    return null;
  }
}

/**
 * Clears what a killed run left: a server that still runs is shut down; a `postmaster.pid` whose number now
 * belongs to another program (usual in containers, where numbers repeat) is removed, because PostgreSQL
 * would take that program for a server and refuse to start. The caller holds the lock of the data folder.
 */
export async function removeStalePidFile(cluster: string): Promise<void> {
  const pid = findRunningPostmaster(cluster);
  if (pid === null) return;
  if (!(await isServerOf(pid, cluster))) {
    await rm(join(cluster, 'postmaster.pid'), { force: true });
    return;
  }
  for (const [signal, patienceMs] of [
    ['SIGINT', 15_000],
    ['SIGQUIT', 5000],
    ['SIGKILL', 5000],
  ] as const) {
    if (findRunningPostmaster(cluster) !== pid) return;
    send(pid, signal);
    const deadline = performance.now() + patienceMs;
    // The server removes the file when it exits. The process ID may remain as a zombie where process 1 does
    // not reap children.
    while (findRunningPostmaster(cluster) === pid && performance.now() < deadline) await sleep(10);
  }
}

function alive(pid: number): boolean {
  return send(pid, 0);
}

/** Whether the process is there. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  const command =
    process.platform === 'linux'
      ? readFile(`/proc/${pid}/cmdline`, 'utf8').then((text) => text.replaceAll('\0', ' '))
      : run('ps', ['-o', 'command=', '-p', String(pid)]).then((result) => result.stdout);
  return command.then(
    (text) => text.includes('postgres') && text.includes(cluster),
    () => false,
  );
}
