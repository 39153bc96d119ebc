/** `npm run bench [-- name…]`: the programs of `bench/`, or those that are named, one after another. */
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { ROOT, runProgram } from './program.ts';
import { runSteps } from './steps.ts';

const BENCH_MS = 600_000;
const wanted = process.argv.slice(2);
const steps = globSync('bench/*.ts', { cwd: ROOT })
  .map((path) => ({ path, name: basename(path, '.ts') }))
  .filter(({ name }) => !name.endsWith('.test') && (wanted.length === 0 || wanted.includes(name)))
  .map(({ path, name }) => ({
    name,
    run: () =>
      runProgram([process.execPath, '--disable-warning=ExperimentalWarning', path], { timeoutMs: BENCH_MS }),
  }));
process.exit(await runSteps(steps));
