/**
 * `npm test [-- [--full] [--changed] [folder or file…]]`: runs static checks, then unit, API and end-to-end
 * tests concurrently, then, one at a time, the files that a busy machine would break (`*.alone.test.ts`),
 * with CPU-bound files at a lower priority. `--full` adds the long forms (`*.full.test.ts`). At the end it
 * compares the recorded responses and events with the documented ones (`coverage-step.ts`). With folders, it runs
 * only the tests whose path contains one of them; with `--changed`, only those that depend on files changed
 * since the branch left `main`.
 */
import { contractCoverageStep } from './coverage-step.ts';
import { runSteps, staticSteps } from './steps.ts';
import { changedTests } from './test-changes.ts';
import { printTestSummary, testStep } from './test-step.ts';

const SOURCES = ['src', 'test', 'scripts', 'sdk', 'bench', 'web'];
const EXCLUDED = ['node_modules/**', 'web/dist/**', 'test/dependency-rules/**', 'test/repository/**'];
const NOT_IN_MAIN_RUN = ['**/*.alone.test.ts', '**/*.full.test.ts'];
/** Files that only compute: they run at a lower priority with those that run one at a time and mostly wait. */
const CPU_BOUND_TESTS = [
  // The excluded one tests its own priority.
  'src/media/transcode/!(hostile).test.ts',
  'src/media/recording/join.test.ts',
  'test/openapi/*.test.ts',
];

/** Concurrent processes: most of them wait most of the time, so it takes six to keep two cores busy. */
const CONCURRENCY = 6;

const full = process.argv.includes('--full');
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const changed = process.argv.includes('--changed') ? changedTests() : null;
const wanted = changed ?? named;
if (changed?.length === 0) {
  process.stdout.write('No test depends on what changed.\n');
  process.exit(0);
}
const cpuBoundTests = wanted.length === 0 ? CPU_BOUND_TESTS : [];

/** Returns the patterns for test files of this kind in `roots`, or in the selected folders of them. */
function patterns(roots: string[], kind = ''): string[] {
  const file = `*${kind}.test.ts`;
  if (wanted.length === 0) return roots.map((root) => `${root}/**/${file}`);
  return wanted.flatMap((part) => {
    if (part.endsWith('.test.ts')) return part.endsWith(`${kind}.test.ts`) ? [part] : [];
    const folder = part.replace(/\/+$/, '');
    return roots.flatMap((root) => [`${folder}/**/${file}`, `${root}/**/${folder}/**/${file}`]);
  });
}

const everything = [...SOURCES, 'e2e'];
const code = await runSteps([
  ...(wanted.length === 0 ? staticSteps() : []),
  ...testStep('tests', patterns(everything), {
    exclude: [...EXCLUDED, ...NOT_IN_MAIN_RUN, ...cpuBoundTests],
    concurrency: CONCURRENCY,
    timeoutMs: 1_800_000,
  }),
  ...testStep('one at a time', patterns(everything, '.alone'), {
    exclude: ['node_modules/**', '**/*.full.test.ts'],
    cpuBound: cpuBoundTests,
    concurrency: 1,
    timeoutMs: 900_000,
  }),
  ...(full
    ? testStep('long forms', patterns(everything, '.full'), {
        exclude: ['node_modules/**'],
        concurrency: 1,
        timeoutMs: 3_600_000,
      })
    : []),
  ...(wanted.length === 0 ? [contractCoverageStep()] : []),
]);
printTestSummary();
process.exit(code);
