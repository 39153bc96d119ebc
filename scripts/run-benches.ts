/**
 * `npm run bench [-- name…]`: runs the programs of `bench/`, or the named ones, one after another; `-- quick`
 * runs the short forms of those that detect regressions. The figures are stored in `bench/results`.
 */
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { figuresOf, type Measured, saveResults } from './bench-results.ts';
import { ROOT, runProgram } from './program.ts';
import { runSteps } from './steps.ts';

const BENCH_MS = 600_000;
/** Together they take five minutes. */
const QUICK = ['api', 'playback', 'webhooks'];
const named = process.argv.slice(2).filter((name) => name !== 'quick');
const isQuick = process.argv.includes('quick');
const wanted = isQuick && named.length === 0 ? QUICK : named;
const figures: Measured[] = [];
const steps = globSync('bench/*.ts', { cwd: ROOT })
  .toSorted()
  .map((path) => ({ path, name: basename(path, '.ts') }))
  .filter(({ name }) => !name.endsWith('.test') && (wanted.length === 0 || wanted.includes(name)))
  .map(({ path, name }) => ({
    name,
    async run() {
      const program = [process.execPath, '--disable-warning=ExperimentalWarning', path];
      let output = '';
      const failure = await runProgram([...program, ...(isQuick ? ['--quick'] : [])], {
        timeoutMs: BENCH_MS,
        onOutput: (text) => {
          output += text;
        },
      });
      figures.push(...figuresOf(name, output));
      return failure;
    },
  }));
const code = await runSteps(steps);
if (figures.length > 0) process.stdout.write(`\n${saveResults(figures, isQuick, Date.now())}`);
process.exit(code);
