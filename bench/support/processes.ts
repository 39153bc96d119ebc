import { readdirSync, readFileSync } from 'node:fs';

/** Of `/proc/<pid>/stat` (proc_pid_stat(5)). */
const TICKS_PER_SEC = 100;

/**
 * Processor time in seconds of a process and all below it, PostgreSQL with them: what they used since they began, and
 * what those used that have ended. Two calls give what the time between took, whatever else the machine does.
 */
export function processorSeconds(pid: number): number {
  const processes = new Map<number, { parent: number; seconds: number }>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const fields = statOf(name);
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    if (fields.length > 0)
      processes.set(Number(name), { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SEC });
  }
  const isBelow = (one: number): boolean => {
    const parent = processes.get(one)?.parent;
    return one === pid || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  return [...processes].reduce((sum, [one, { seconds }]) => (isBelow(one) ? sum + seconds : sum), 0);
}

/** Processor time in seconds of all threads of one process, since it began. */
export function ownSeconds(pid: number): number {
  const [user, system] = statOf(String(pid)).slice(11, 13);
  return (Number(user) + Number(system)) / TICKS_PER_SEC;
}

/** What follows the name; nothing of a process that has ended. */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  } catch {
    return [];
  }
}

/** For how many seconds the main thread of a process ran or waited for a processor, since it began: it was not idle. */
export function busySeconds(pid: number): number {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return (Number(ran) + Number(waited)) / 1e9;
}

/** Processor time in seconds of everything that ran on the machine since it began: also of what is in a sandbox of its own. */
export function machineSeconds(): number {
  const [user, nice, system, , , interrupts, softInterrupts] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)
    .join()
    .split(/ +/)
    .slice(1)
    .map(Number);
  const ticks = [user, nice, system, interrupts, softInterrupts];
  return ticks.reduce<number>((sum, one = 0) => sum + one, 0) / TICKS_PER_SEC;
}
