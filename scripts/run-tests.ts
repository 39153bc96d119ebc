/**
 * `npm test [-- [--full] [folder or file…]]`: static checks, then unit, API and end-to-end tests side by side,
 * and one at a time what measures or loads the machine (`*.alone.test.ts`), which leaves the processor idle half of
 * the time: what only computes has it then. `--full` adds the long forms
 * (`*.full.test.ts`). At the end it compares what the tests have seen with what is promised (`promises.ts`). With folders,
 * only the tests below those whose path has such a part.
 */
import { promisesStep } from './promises.ts';
import { runSteps, staticSteps } from './steps.ts';
import { printTestSummary, testStep } from './test-step.ts';

const SOURCES = ['src', 'test', 'scripts', 'sdk', 'bench', 'web'];
const ELSEWHERE = ['node_modules/**', 'web/dist/**', 'test/dependency-rules/**', 'test/repository/**'];
const APART = ['**/*.alone.test.ts', '**/*.full.test.ts'];
/** They compute, with time to spare, and run beside those that run one at a time and mostly wait. */
const PATIENT = [
  'e2e/processing.test.ts',
  // The one that is left out looks at its own priority.
  'src/media/transcode/!(hostile).test.ts',
  'src/media/recording/join.test.ts',
  'test/openapi/*.test.ts',
];

/** Files at a time: many of them mostly wait, so it takes more than two to keep two cores at work. */
const BESIDE = 3;

const full = process.argv.includes('--full');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const beside = wanted.length === 0 ? PATIENT : [];

/** The patterns for test files of this kind in `roots`, or in the wanted folders of them. */
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
    exclude: [...ELSEWHERE, ...APART, ...beside],
    concurrency: BESIDE,
    timeoutMs: 1_800_000,
  }),
  ...testStep('one at a time', patterns(everything, '.alone'), {
    exclude: ['node_modules/**', '**/*.full.test.ts'],
    beside,
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
  ...(wanted.length === 0 ? [promisesStep()] : []),
]);
printTestSummary();
process.exit(code);
