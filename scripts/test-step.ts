import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, runProgram, type Step } from './program.ts';
import { groupsOf, writeGroup } from './test-groups.ts';
import { guardGroups, type HungGroup } from './test-guard.ts';

/** Report of `test-report.mjs` on one file. */
interface FileReport {
  file: string;
  ms: number;
  failed: string[];
  ok: boolean;
}

interface RunOptions {
  concurrency: number;
  timeoutMs: number;
  /** Runs the files at low priority. */
  isPatient?: boolean;
  /** Time for a process to exit after its last test. Default: {@link GRACE_MS} */
  graceMs?: number;
  /** Time in which a process must begin or end a test. Default: {@link SILENCE} times the limit of a test. */
  silenceMs?: number;
}

interface TestStepOptions extends RunOptions {
  exclude?: string[];
  /** CPU-bound files without time limits, run concurrently at a lower priority. */
  cpuBound?: string[];
}

/** Maximum failed files that are retried separately; more failures are not caused by load. */
const MAX_RETRIED = 10;
/** Time limit of one test. */
const TEST_MS = 180_000;
const PATIENT_MS = 600_000;
const GRACE_MS = 30_000;
/** Factor of the test time limit: hooks of a file have the same limit, and may follow those of another. */
const SILENCE = 3;
/** Patient files at a time. */
const PATIENT_CONCURRENCY = 2;

/** All files that ran, for the summary. */
const seen: FileReport[] = [];
/** Tests that failed among others and passed when retried separately. */
const unsteady: string[] = [];
const broken: string[] = [];

/**
 * Runs the test files that match `patterns`; returns no step if there are none. A failed file is retried
 * separately to name its tests as broken or unsteady. Both fail the step.
 */
export function testStep(name: string, patterns: string[], options: TestStepOptions): Step[] {
  const { exclude = [], cpuBound: cpuBoundPatterns = [], ...how } = options;
  const found = (globs: string[]) => globSync(globs, { cwd: ROOT, exclude }).sort();
  const [files, cpuBound] = [found(patterns), found(cpuBoundPatterns)];
  if (files.length + cpuBound.length === 0) return [];
  const run = async () => {
    const passes = await Promise.all([
      runOnce(files, how),
      runOnce(cpuBound, { ...how, concurrency: PATIENT_CONCURRENCY, isPatient: true }),
    ]);
    for (const pass of passes) await diagnose(pass, how);
    const failures = passes.flatMap(({ failure }) => failure ?? []);
    return failures.length === 0 ? null : failures.join('');
  };
  return [{ name, run }];
}

interface Pass {
  /** Reason of the failure, or null. */
  failure: string | null;
  reports: FileReport[];
}

async function runOnce(files: string[], options: RunOptions): Promise<Pass> {
  if (files.length === 0) return { failure: null, reports: [] };
  const pass = await runFiles(groupsOf(files, options.concurrency), options);
  seen.push(...pass.reports);
  return pass;
}

/** Retries the failed files while nothing else runs, and records which tests fail again. */
async function diagnose({ failure, reports }: Pass, options: RunOptions): Promise<void> {
  const failed = reports.filter((report) => !report.ok);
  if (failed.length === 0) return;
  if (failed.length > MAX_RETRIED || failure !== '') {
    broken.push(...failed.flatMap((report) => report.failed));
    return;
  }
  process.stdout.write(`\n── again, alone: ${failed.map(({ file }) => file).join(', ')}\n`);
  const groups = failed.map(({ file }) => [file]);
  const second = await runFiles(groups, { ...options, concurrency: 1 });
  const stillBroken = second.reports.filter((report) => !report.ok);
  broken.push(...stillBroken.flatMap((report) => report.failed));
  const passed = failed.filter(({ file }) => !stillBroken.some((report) => report.file === file));
  unsteady.push(...passed.flatMap((report) => report.failed));
}

/** Runs each group in a separate process, in this order. */
async function runFiles(together: string[][], { concurrency, ...how }: RunOptions): Promise<Pass> {
  const folder = mkdtempSync(join(tmpdir(), 'marquee-report-'));
  const path = join(folder, 'files.jsonl');
  const testMs = how.isPatient ? PATIENT_MS : TEST_MS;
  const groups = together.map((files, index) => ({ files, path: writeGroup(folder, index, files) }));
  const { graceMs = GRACE_MS, silenceMs = SILENCE * testMs } = how;
  const endGuard = guardGroups(groups, path, { graceMs, silenceMs });
  try {
    const failure = await runProgram(
      [
        process.execPath,
        '--disable-warning=ExperimentalWarning',
        '--test',
        `--test-concurrency=${concurrency}`,
        `--test-timeout=${testMs}`,
        ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
        ...['--test-reporter=./scripts/test-report.mjs', `--test-reporter-destination=${path}`],
        ...groups.map((group) => group.path),
      ],
      how,
    );
    const hung = endGuard();
    const reports = readReports(path);
    return { failure, reports: markHung([...reports, ...unreported(together, reports)], hung) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Marks as failed the files of an ended process that had failures, or all of its files if the culprit is
 * unknown.
 */
function markHung(reports: FileReport[], hung: readonly HungGroup[]): FileReport[] {
  for (const { group, why } of hung) {
    const its = reports.filter(({ file }) => group.files.includes(file));
    const failed = its.filter((report) => !report.ok);
    for (const report of failed.length > 0 ? failed : its) {
      report.ok = false;
      report.failed.push(`${report.file}: its process ${why}`);
    }
  }
  return reports;
}

/** Returns the files whose process was killed, or failed before their first test. */
function unreported(groups: string[][], reports: FileReport[]): FileReport[] {
  const reported = new Set(reports.map(({ file }) => file));
  return groups
    .flat()
    .filter((file) => !reported.has(file))
    .map((file) => ({ file, ms: 0, failed: [`${file}: its process ended before it`], ok: false }));
}

/** The lines about files; the others are for the guard. */
function readReports(path: string): FileReport[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"file":'))
    .map((line) => {
      const report: FileReport = { file: '', ms: 0, failed: [], ok: false };
      return Object.assign(report, JSON.parse(line));
    });
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
  print('Unsteady tests (failed with others, passed alone; they fail the run):', unsteady);
  print('Failed tests:', broken);
}
