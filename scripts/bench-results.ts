import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Figure } from '../bench/support/report.ts';
import { ROOT } from './program.ts';

const FOLDER = join(ROOT, 'bench/results');

/** Figure printed by a benchmark. */
export interface Measured extends Figure {
  bench: string;
  pass: boolean;
}

/** Benchmark run: commit, machine and figures. */
interface Run {
  date: string;
  commit: string;
  machine: string;
  isQuick: boolean;
  figures: Measured[];
}

/** The figures among the lines that a bench wrote. */
export function figuresOf(bench: string, output: string): Measured[] {
  return output.split('\n').flatMap((line) => {
    const figure = line.startsWith('{') ? parsed(line) : null;
    return isFigure(figure) ? [{ ...figure, bench }] : [];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isFigure(value: unknown): value is Omit<Measured, 'bench'> {
  return (
    typeof value === 'object' && value !== null && 'name' in value && 'value' in value && 'pass' in value
  );
}

function isRun(value: unknown): value is Run {
  return typeof value === 'object' && value !== null && 'figures' in value && 'machine' in value;
}

/** The commit, with a plus where the tree differs from it; unknown outside a checkout. */
function commitOf(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
    return git('rev-parse', '--short=10', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}

function machineOf(): string {
  const [{ model } = { model: 'unknown' }] = cpus();
  return `${cpus().length} × ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`;
}

/** The newest earlier run of the same kind on the same machine. */
function runBefore({ machine, isQuick }: Run): Run | undefined {
  const runs = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .reverse();
  for (const name of runs) {
    const run = parsed(readFileSync(join(FOLDER, name), 'utf8'));
    if (isRun(run) && run.machine === machine && run.isQuick === isQuick) return run;
  }
  return undefined;
}

/** Renders one line per figure in a fixed order, so that two tables differ only in their values. */
function table(run: Run, before: Run | undefined): string {
  const earlier = new Map(before?.figures.map((figure) => [`${figure.bench} ${figure.name}`, figure.value]));
  const lines = run.figures.map(({ bench, name, value, unit, target, pass }) => {
    const was = earlier.get(`${bench} ${name}`);
    const change = was === undefined || was === 0 ? '' : `${Math.round((value / was - 1) * 100)} %`;
    return [bench, name, value, was ?? '', change, unit, target, pass ? 'yes' : 'no'].join(' | ');
  });
  const since = before === undefined ? 'no earlier run' : `${before.commit} of ${before.date}`;
  return `# ${run.commit}, ${run.date}

${run.machine}; ${run.isQuick ? 'quick' : 'whole'}. Before: ${since}.

| bench | figure | value | before | change | unit | target | met |
| --- | --- | --- | --- | --- | --- | --- | --- |
${lines.map((line) => `| ${line} |\n`).join('')}`;
}

/**
 * Stores the figures of a run in `bench/results`, as JSON and as a table with those of the previous run.
 *
 * @param now epoch milliseconds.
 * @returns the table.
 */
export function saveResults(figures: Measured[], isQuick: boolean, now: number): string {
  const date = new Date(now).toISOString().slice(0, 19);
  const run: Run = { date, commit: commitOf(), machine: machineOf(), isQuick, figures };
  mkdirSync(FOLDER, { recursive: true });
  const text = table(run, runBefore(run));
  const file = join(FOLDER, `${date.replaceAll(':', '-')}-${run.commit}`);
  writeFileSync(`${file}.json`, `${JSON.stringify(run, null, 2)}\n`);
  writeFileSync(`${file}.md`, text);
  return `${text}\nKept as ${file}.md and .json\n`;
}
