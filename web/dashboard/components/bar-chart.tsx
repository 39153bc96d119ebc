import './chart.css';
import type { ReactNode } from 'react';

/** One bar: `name` is its position on the axis, `shown` its formatted value. */
export interface Bar {
  key: string;
  name: string;
  value: number;
  shown: string;
}

const HEIGHT = 100;
const STEP = 10;
const BAR = 8;

interface Props {
  bars: readonly Bar[];
  /** Text alternative and caption of the chart. */
  words: string;
  /** Figures as a table, and the label that opens it. */
  table: { open: string; rows: ReactNode };
}

/** Renders a series as bars, and as a table. */
export function BarChart({ bars, words, table }: Props) {
  const [first, last] = [bars[0], bars.at(-1)];
  if (first === undefined || last === undefined) return null;
  return (
    <figure className="chart">
      <Bars bars={bars} label={words} />
      <div className="chart-ends">
        <span>{first.name}</span>
        <span>{last.name}</span>
      </div>
      <figcaption>{words}</figcaption>
      <details>
        <summary>{table.open}</summary>
        {table.rows}
      </details>
    </figure>
  );
}

function Bars({ bars, label }: { bars: readonly Bar[]; label: string }) {
  const values = bars.map(({ value }) => value);
  const most = Math.max(0, ...values);
  const least = Math.min(0, ...values);
  const scale = HEIGHT / Math.max(1, most - least);
  const zero = most * scale;
  return (
    <svg
      viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {bars.map(({ key, name, value, shown }, index) => {
        const height = Math.abs(value) * scale;
        return (
          <rect
            key={key}
            x={index * STEP + (STEP - BAR) / 2}
            y={value < 0 ? zero : zero - height}
            width={BAR}
            height={height}
            className={value < 0 ? 'chart-loss' : 'chart-gain'}
          >
            <title>{`${name}: ${shown}`}</title>
          </rect>
        );
      })}
      <line x1="0" x2={bars.length * STEP} y1={zero} y2={zero} className="chart-zero" />
    </svg>
  );
}
