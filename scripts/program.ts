import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** One part of a check. */
export interface Step {
  name: string;
  /** @returns why it failed (maybe nothing more than that it did), or null. */
  run(): Promise<string | null>;
}

let current: ChildProcess | undefined;

for (const event of ['SIGTERM', 'SIGINT', 'SIGHUP', 'disconnect'] as const) {
  process.on(event, () => {
    current?.kill('SIGTERM');
    process.exit(130);
  });
}

/**
 * Runs a program in the root of the checkout; it is ended when it takes longer than `timeoutMs`.
 *
 * @returns why it failed, or null.
 */
export function runProgram([program = '', ...args]: string[], timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
    current = child;
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGTERM');
    }, timeoutMs);
    child.on('error', (error) => resolve(`: ${error.message}`));
    child.on('exit', (code) => {
      clearTimeout(timer);
      if (late) resolve(`: not done after ${timeoutMs / 1000} s`);
      else resolve(code === 0 ? null : '');
    });
  });
}
