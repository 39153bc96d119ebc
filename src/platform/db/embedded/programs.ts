import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Identity } from './identity.ts';

/** A started program: the lines of its standard error go to `onLine`. */
export interface Program {
  readonly pid: number;
  /** Resolves with the line that tells a failure, or an empty text, when it has ended. */
  readonly ended: Promise<{ code: number | null; failure: string }>;
  signal(name: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): void;
}

interface RunOptions {
  identity: Identity;
  /** Folder that the program starts in. Our own may be closed to the system user. */
  cwd: string;
  /** Text for its standard input. */
  input?: string;
  onLine?: (line: string) => void;
}

const FAILURE = /(?:FATAL|PANIC|ERROR|error):\s+(.*)/;

const NO_SPACE = 'No space left on device';

/**
 * Starts a PostgreSQL program in a session of its own: Ctrl-C in a terminal goes to the whole process group
 * and would stop the database before we have drained.
 */
export function runProgram(path: string, args: string[], options: RunOptions): Program {
  const { identity, cwd, input, onLine } = options;
  const [program = path, ...rest] = identity.prefix.length > 0 ? [...identity.prefix, '--', path] : [path];
  const child = spawn(program, [...rest, ...args], {
    cwd,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' },
    ...(identity.prefix.length === 0 && identity.user !== null ? identity.user : {}),
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  let failure = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    // A full disk has many consequences, and the last line tells only one of those.
    if (line.includes(NO_SPACE) || line.includes('Check free disk space')) failure = NO_SPACE;
    else if (failure !== NO_SPACE) failure = FAILURE.exec(line)?.[1] ?? failure;
    onLine?.(line);
  });
  return {
    pid: child.pid ?? 0,
    ended: waitFor(child).then((code) => ({ code, failure })),
    signal: (name) => {
      child.kill(name);
    },
  };
}

function waitFor(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
}
