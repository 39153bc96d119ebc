import { readdirSync, readFileSync } from 'node:fs';

/** Unit of the times in `/proc/<pid>/stat` (proc_pid_stat(5)). */
const TICKS_PER_SEC = 100;

/**
 * Returns the processor time in seconds of a process and its descendants, including PostgreSQL and ended
 * processes. The difference of two calls is independent of other load on the machine.
 */
export function processorSeconds(pid: number): number {
  const { program, database } = splitSeconds(pid);
  return program + database;
}

/** Returns the same as `processorSeconds`, with that of PostgreSQL by itself. */
export function splitSeconds(pid: number): { program: number; database: number } {
  const processes = new Map<number, { parent: number; isDatabase: boolean; seconds: number }>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const fields = statOf(name);
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    if (fields.length === 0) continue;
    const isDatabase = commandOf(name).startsWith('postgres');
    processes.set(Number(name), { parent: Number(fields[1]), isDatabase, seconds: ticks / TICKS_PER_SEC });
  }
  const isBelow = (one: number): boolean => {
    const parent = processes.get(one)?.parent;
    return one === pid || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  const split = { program: 0, database: 0 };
  for (const [one, { isDatabase, seconds }] of processes) {
    if (isBelow(one)) split[isDatabase ? 'database' : 'program'] += seconds;
  }
  return split;
}

/** Returns the name of a program; empty for an ended process. */
function commandOf(name: string): string {
  try {
    return readFileSync(`/proc/${name}/comm`, 'utf8');
  } catch {
    return '';
  }
}

/** Processor time in seconds of all threads of one process, since it began. */
export function ownSeconds(pid: number): number {
  const [user, system] = statOf(String(pid)).slice(11, 13);
  return (Number(user) + Number(system)) / TICKS_PER_SEC;
}

/** Returns the fields after the name; empty for an ended process. */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Returns the seconds that the main thread of a process ran or was runnable since its start. */
export function busySeconds(pid: number): number {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return (Number(ran) + Number(waited)) / 1e9;
}

/**
 * Returns the processor time in seconds of the whole machine since its boot, including sandboxed processes.
 */
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
