import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** One part of a check. */
export interface Step {
  name: string;
  /** @returns the reason of the failure (possibly empty), or null. */
  run(): Promise<string | null>;
}

const running = new Set<ChildProcess>();

for (const event of ['SIGTERM', 'SIGINT', 'SIGHUP', 'disconnect'] as const) {
  process.on(event, () => {
    for (const child of running) child.kill('SIGTERM');
    process.exit(130);
  });
}
// The listener of `disconnect` would keep a finished script running.
process.channel?.unref();

interface ProgramOptions {
  /** It is ended when it takes longer. */
  timeoutMs: number;
  /** Runs at a lower priority; its output is printed when it has ended. */
  isPatient?: boolean;
  /** Receives the output, which is printed as well. */
  onOutput?: (text: string) => void;
  /** Default: the root of the checkout. */
  cwd?: string;
}

/**
 * Runs a program, in the root of the checkout by default.
 *
 * @returns why it failed, or null.
 */
export function runProgram(
  [program = '', ...args]: string[],
  { timeoutMs, isPatient = false, onOutput, cwd = ROOT }: ProgramOptions,
): Promise<string | null> {
  return new Promise((resolve) => {
    const output = isPatient || onOutput !== undefined ? 'pipe' : 'inherit';
    const child = spawn(program, args, { cwd, stdio: ['ignore', output, 'inherit'] });
    running.add(child);
    if (isPatient && child.pid !== undefined)
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    const held: Buffer[] = [];
    child.stdout?.on('data', (chunk) => {
      if (isPatient) held.push(chunk);
      else process.stdout.write(chunk);
      onOutput?.(String(chunk));
    });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGTERM');
    }, timeoutMs);
    child.on('error', (error) => resolve(`: ${error.message}`));
    child.on('close', (code) => {
      running.delete(child);
      clearTimeout(timer);
      process.stdout.write(Buffer.concat(held));
      if (late) resolve(`: not done after ${timeoutMs / 1000} s`);
      else resolve(code === 0 ? null : '');
    });
  });
}
