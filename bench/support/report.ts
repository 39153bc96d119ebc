/** `npm run bench -- quick`: the shortest run that detects regressions. */
export const isQuick: boolean = process.argv.includes('--quick');

/** One figure of a benchmark, printed as a JSON line; ratios are against a baseline of the same run. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** Target of the figure, such as `>= 0.25`. */
  target: string;
}

/** Prints the figure and whether it meets its target. Benchmarks report, they never fail a test run. */
export function report(figure: Figure): void {
  const [relation, bound] = figure.target.split(' ');
  const pass = relation === '>=' ? figure.value >= Number(bound) : figure.value <= Number(bound);
  const value = Math.round(figure.value * 1000) / 1000;
  process.stdout.write(`${JSON.stringify({ ...figure, value, pass })}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
