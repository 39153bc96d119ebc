import './media.css';
import type { ReactNode } from 'react';

export interface DescriptionItem {
  label: string;
  value: ReactNode;
}

/** Lists short values with their names, in as many columns as fit. */
export function DescriptionList({ facts }: { facts: readonly DescriptionItem[] }) {
  return (
    <dl className="facts">
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
