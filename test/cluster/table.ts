import type { LoadResult } from './load.ts';
import type { Cost, DrainCost } from './trials.ts';

const sec = (ms: number): string => (ms / 1000).toFixed(1);

function failuresText(failures: ReadonlyMap<number | string, number>): string {
  const texts = [...failures].map(([outcome, count]) => `${count} × ${outcome}`);
  return texts.length === 0 ? '0' : texts.join(', ');
}

function unavailableText(sortedMs: readonly number[]): string {
  const median = sortedMs[Math.floor(sortedMs.length / 2)];
  if (median === undefined) return '';
  return `${median.toFixed(0)} / ${(sortedMs.at(-1) ?? 0).toFixed(0)}`;
}

const COLUMNS: readonly [string, (cost: Cost) => string][] = [
  ['trial', ({ name }) => name],
  ['requests', ({ requests }) => String(requests)],
  ['failed', ({ failures }) => failuresText(failures)],
  ['viewers failed', ({ viewerFailures }) => failuresText(viewerFailures)],
  ['503 after ms (median / max)', ({ unavailableMs }) => unavailableText(unavailableMs)],
  ['viewers silent s', ({ silenceMs }) => sec(silenceMs)],
  ['webhooks silent s', ({ webhookSilenceMs }) => sec(webhookSilenceMs)],
  ['ready s', ({ readyMs }) => sec(readyMs)],
  ['restarted', ({ restarted }) => restarted.join(' ')],
];

/** Returns a table of the costs for a terminal. */
export function costTable(costs: readonly Cost[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...costs.map((cost) => COLUMNS.map(([, text]) => text(cost))),
  ];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Returns the result of a load, and of a drain under it, for a terminal. */
export function resultLines({ writes, webhooks, uploads }: LoadResult, drain: DrainCost | null): string {
  return [
    '',
    `writes    ${writes.acknowledged} acknowledged, ${writes.lost} lost, ${writes.doubled} doubled`,
    `webhooks  ${webhooks.lost} lost, ${webhooks.repeated} repeated`,
    `uploads   ${uploads.acknowledged} acknowledged, ${uploads.lost} lost`,
    ...(drain === null
      ? []
      : [`SIGTERM   ${drain.requests} fresh connections, failed: ${drain.failures.join(', ') || '0'}`]),
  ].join('\n');
}
