import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runProgram, type Step } from './program.ts';
import { groupsOf, writeGroup } from './test-groups.ts';

/** What `test-report.mjs` wrote about one file. */
interface FileReport {
  file: string;
  ms: number;
  failed: string[];
  ok: boolean;
}

interface RunOptions {
  concurrency: number;
  timeoutMs: number;
  /** They get what others leave of the processor. */
  isPatient?: boolean;
}

interface TestStepOptions extends RunOptions {
  exclude?: string[];
  /** Files that run beside these with what they leave of the processor: they compute, and nothing in them hurries. */
  beside?: string[];
}

/** Each is tried again alone when it failed; more than this is no matter of luck. */
const TRIED_AGAIN = 5;
/** For one test. */
const TEST_MS = 180_000;
const PATIENT_MS = 600_000;
/** Patient files at a time. */
const BESIDE = 2;

/** All files that ran, for the summary. */
const seen: FileReport[] = [];
/** Tests that failed beside others and passed alone. */
const unsteady: string[] = [];
const broken: string[] = [];

/**
 * Runs the test files that `patterns` name; no step when there are none. A file that fails is run once more,
 * alone: what passes then is a test that a busy machine can break. It is printed as unsteady and fails nothing.
 */
export function testStep(name: string, patterns: string[], options: TestStepOptions): Step[] {
  const { exclude = [], beside: patient = [], ...how } = options;
  const found = (globs: string[]) => globSync(globs, { cwd: ROOT, exclude }).sort();
  const [files, beside] = [found(patterns), found(patient)];
  if (files.length + beside.length === 0) return [];
  const run = async () => {
    const passes = await Promise.all([
      runOnce(files, how),
      runOnce(beside, { ...how, concurrency: BESIDE, isPatient: true }),
    ]);
    const failures: (string | null)[] = [];
    for (const pass of passes) failures.push(await tryAgain(pass, how));
    return failures.every((failure) => failure === null) ? null : failures.join('');
  };
  return [{ name, run }];
}

interface Pass {
  /** Why it failed, or null. */
  failure: string | null;
  reports: FileReport[];
}

async function runOnce(files: string[], options: RunOptions): Promise<Pass> {
  if (files.length === 0) return { failure: null, reports: [] };
  const pass = await runFiles(groupsOf(files, options.concurrency), options);
  seen.push(...pass.reports);
  return pass;
}

/** Runs the files that failed once more, while nothing else runs. @returns why that failed, or null. */
async function tryAgain({ failure, reports }: Pass, { timeoutMs }: RunOptions): Promise<string | null> {
  if (failure === null) return null;
  const failed = reports.filter((report) => !report.ok);
  if (failed.length === 0 || failed.length > TRIED_AGAIN || failure !== '') {
    broken.push(...failed.flatMap((report) => report.failed));
    return failure;
  }
  process.stdout.write(`\n── again, alone: ${failed.map(({ file }) => file).join(', ')}\n`);
  const groups = failed.map(({ file }) => [file]);
  const second = await runFiles(groups, { concurrency: 1, timeoutMs });
  const stillBroken = second.reports.filter((report) => !report.ok);
  broken.push(...stillBroken.flatMap((report) => report.failed));
  const mended = failed.filter(({ file }) => !stillBroken.some((report) => report.file === file));
  unsteady.push(...mended.flatMap((report) => report.failed));
  return second.failure;
}

/** Runs each group in a process of its own, in this order. */
async function runFiles(groups: string[][], { concurrency, ...how }: RunOptions): Promise<Pass> {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-report-'));
  const path = join(folder, 'files.jsonl');
  try {
    const failure = await runProgram(
      [
        process.execPath,
        '--disable-warning=ExperimentalWarning',
        '--test',
        `--test-concurrency=${concurrency}`,
        `--test-timeout=${how.isPatient ? PATIENT_MS : TEST_MS}`,
        ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
        ...['--test-reporter=./scripts/test-report.mjs', `--test-reporter-destination=${path}`],
        ...groups.map((files, index) => writeGroup(folder, index, files)),
      ],
      how,
    );
    const reports = readFileSync(path, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => readReport(line));
    return { failure, reports: [...reports, ...unreported(groups, reports)] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files whose process was killed, or broke before their first test. */
function unreported(groups: string[][], reports: FileReport[]): FileReport[] {
  const reported = new Set(reports.map(({ file }) => file));
  return groups
    .flat()
    .filter((file) => !reported.has(file))
    .map((file) => ({ file, ms: 0, failed: [`${file}: its process ended before it`], ok: false }));
}

function readReport(line: string): FileReport {
  const report: FileReport = { file: '', ms: 0, failed: [], ok: false };
  return Object.assign(report, JSON.parse(line));
}

/** Prints the slowest files, and the tests that failed or were unsteady. */
export function printTestSummary(slowest = 20): void {
  const rows = seen.toSorted((a, b) => b.ms - a.ms).slice(0, slowest);
  const print = (title: string, lines: string[]) => {
    if (lines.length > 0) process.stdout.write(`\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`);
  };
  print(
    'Slowest files:',
    rows.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`),
  );
  print('Unsteady tests (failed beside others, passed alone):', unsteady);
  print('Failed tests:', broken);
}
