import { join } from 'node:path';
import { ROOT, runProgram, type Step } from './program.ts';
import { testStep } from './test-step.ts';

/** A program of node_modules. */
const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);

/** TypeScript 7 by its path: `tsc` is the 5 that openapi-typescript needs. */
const TSC = '../typescript-7/bin/tsc';

/** A step that is one program of node_modules. */
function programStep(name: string, [program = '', ...args]: string[]): Step {
  return { name, run: () => runProgram([bin(program), ...args], { timeoutMs: 300_000 }) };
}

/** The dashboard's types of the API, out of openapi.json: made anew by each check, so they are in no commit. */
export function apiTypesStep(): Step {
  const file = 'web/dashboard/app/api.generated.ts';
  return programStep('types of the API', ['openapi-typescript', 'openapi.json', '--output', file]);
}

/** The checks that start nothing: format and lint, types, dependency rules, dead code, repository rules. */
export function staticSteps(): Step[] {
  const timeoutMs = 300_000;
  return [
    programStep('format and lint', ['biome', 'check', '--error-on-warnings', '.']),
    programStep('types', [TSC, '-p', '.']),
    apiTypesStep(),
    programStep('types of the pages', [TSC, '-p', 'web']),
    programStep('dead code', ['knip', '--no-progress']),
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
  for (const { name, run } of steps) {
    process.stdout.write(`\n── ${name}\n`);
    const started = performance.now();
    const failure = await run();
    if (failure !== null) failed += 1;
    const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
    results.push(`${failure === null ? 'ok    ' : 'FAILED'} ${seconds} s  ${name}${failure ?? ''}`);
  }
  process.stdout.write(`\n${results.join('\n')}\n`);
  return failed === 0 ? 0 : 1;
}
