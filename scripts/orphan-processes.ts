import { readdirSync, readFileSync } from 'node:fs';

/** Children of a test process have it in their environment; {@link unmarked} is for what outlives the test. */
const MARK = 'MARQUEE_TEST_GROUP';

export interface FoundProcess {
  pid: number;
  command: string;
}

interface Known extends FoundProcess {
  parent: number;
  /** Its process group. */
  group: number;
}

/** What this process starts from here on belongs to the test files of this group. */
export function markChildren(group: string): void {
  process.env[MARK] = group;
}

/** The environment for a process that serves other tests as well. */
export function unmarked(): NodeJS.ProcessEnv {
  const { [MARK]: _, ...env } = process.env;
  return env;
}

/**
 * The process that runs the group at `path`, what it started, and what was started by those that have ended. What has
 * a process group and no mark is left alone: it serves other tests. Empty where there is no `/proc`.
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

/** `node … /tmp/…/003.mjs`, and not the `node --test` that was given all of them. */
function isRunner({ command }: Known, path: string): boolean {
  return command.endsWith(` ${path}`) && !command.includes(' --test ');
}

function isMarked(pid: number, path: string): boolean {
  return read(`/proc/${pid}/environ`).split('\0').includes(`${MARK}=${path}`);
}

function listProcesses(): Known[] {
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

/** Empty where it ended meanwhile, or belongs to somebody else. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
