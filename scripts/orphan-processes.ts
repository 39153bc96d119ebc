import { readdirSync, readFileSync } from 'node:fs';

/**
 * Environment variable of a test process's children; {@link unmarked} is for processes that outlive the test.
 */
const MARK = 'MARQUEE_TEST_GROUP';

export interface FoundProcess {
  pid: number;
  command: string;
}

interface ProcessInfo extends FoundProcess {
  parent: number;
  /** Its process group. */
  group: number;
}

/** Marks processes that this process starts from now on as part of the group's test files. */
export function markChildren(group: string): void {
  process.env[MARK] = group;
}

/** The environment for a process that serves other tests as well. */
export function unmarked(): NodeJS.ProcessEnv {
  const { [MARK]: _, ...env } = process.env;
  return env;
}

/**
 * Returns the process that runs the group at `path`, its descendants, and orphans of ended ones. Processes
 * with their own process group and without the mark are excluded: they serve other tests. Empty on systems
 * without `/proc`.
 */
export function processesOf(path: string): FoundProcess[] {
  const all = listProcesses();
  const found = new Map(
    all.filter((one) => isMarked(one.pid, path) || isRunner(one, path)).map((one) => [one.pid, one]),
  );
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const one of all) if (found.has(one.parent) && one.group !== one.pid) found.set(one.pid, one);
  }
  return [...found.values()];
}

/** The hard way: they had their time. */
export function endProcesses(found: readonly FoundProcess[]): void {
  for (const { pid } of found) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with its parent.
    }
  }
}

/** Reports whether it is `node … /tmp/…/003.mjs`, and not the `node --test` that runs all groups. */
function isRunner({ command }: ProcessInfo, path: string): boolean {
  return command.endsWith(` ${path}`) && !command.includes(' --test ');
}

function isMarked(pid: number, path: string): boolean {
  return read(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${path}`);
}

function listProcesses(): ProcessInfo[] {
  const pids = list('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.flatMap((name) => {
    const stat = read(`/proc/${name}/stat`);
    // The name of the program, in parentheses, may have any characters.
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === undefined || state === 'Z' || stat === '') return [];
    const command = read(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim();
    return [{ pid: Number(name), parent: Number(parent), group: Number(group), command }];
  });
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Reads the file; empty if the process has ended or belongs to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
