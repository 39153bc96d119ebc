import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** One program of a check, run in the root of the checkout. */
export interface Step {
  name: string;
  command: string[];
  /** The program is ended when it takes longer. */
  timeoutMs: number;
}

/** A program of node_modules. */
export const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);

/** Runs the test files that `patterns` name, each in a process of its own; no step when there are none. */
export function testStep(
  name: string,
  patterns: string[],
  options: { exclude?: string[]; concurrency: number; timeoutMs: number },
): Step[] {
  const files = globSync(patterns, { cwd: ROOT, exclude: options.exclude ?? [] }).sort();
  if (files.length === 0) return [];
  const command = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--test',
    `--test-concurrency=${options.concurrency}`,
    '--test-timeout=180000',
    ...files,
  ];
  return [{ name, command, timeoutMs: options.timeoutMs }];
}

/** The checks that start nothing: format and lint, types, dependency rules, dead code, repository rules. */
export function staticSteps(): Step[] {
  const timeoutMs = 120_000;
  const steps: Step[] = [
    { name: 'format and lint', command: [bin('biome'), 'check', '--error-on-warnings', '.'], timeoutMs },
    { name: 'types', command: [bin('tsc'), '-p', '.'], timeoutMs },
  ];
  if (existsSync(join(ROOT, 'web/tsconfig.json'))) {
    steps.push({ name: 'types of the pages', command: [bin('tsc'), '-p', 'web'], timeoutMs });
  }
  return [
    ...steps,
    { name: 'dead code', command: [bin('knip'), '--no-progress'], timeoutMs },
    ...testStep('dependency rules', ['test/dependency-rules/*.test.ts'], { concurrency: 1, timeoutMs }),
    ...testStep('repository rules', ['test/repository/*.test.ts'], { concurrency: 2, timeoutMs }),
  ];
}

/**
 * Runs the steps one after another, all of them even when one fails, and prints a summary.
 *
 * @returns the exit code: 0 when every step passed.
 */
export async function runSteps(steps: Step[]): Promise<number> {
  const results: string[] = [];
  let failed = 0;
  for (const step of steps) {
    process.stdout.write(`\n── ${step.name}\n`);
    const started = performance.now();
    const failure = await runStep(step);
    if (failure !== null) failed += 1;
    const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
    results.push(`${failure === null ? 'ok    ' : 'FAILED'} ${seconds} s  ${step.name}${failure ?? ''}`);
  }
  process.stdout.write(`\n${results.join('\n')}\n`);
  return failed === 0 ? 0 : 1;
}

let current: ChildProcess | undefined;

for (const event of ['SIGTERM', 'SIGINT', 'SIGHUP', 'disconnect'] as const) {
  process.on(event, () => {
    current?.kill('SIGTERM');
    process.exit(130);
  });
}

/** @returns why it failed, or null. */
function runStep({ command, timeoutMs }: Step): Promise<string | null> {
  const [program = '', ...args] = command;
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
