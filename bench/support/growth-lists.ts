import { CONTENT_ROWS, type Rows } from './growth-rows.ts';
import { SALES_ROWS } from './growth-sales-rows.ts';
import { WORK_ROWS } from './growth-work-rows.ts';

/** Rows of every list in `growth-cases.ts`. */
export const ROWS: readonly Rows[] = [...CONTENT_ROWS, ...SALES_ROWS, ...WORK_ROWS];

/** Returns the rows of the list that a case with this name requests. */
export function rowsOf(name: string): Rows[] {
  const lists = ROWS.map(({ list }) => list).filter((list) => name.startsWith(list));
  const longest = lists.toSorted((a, b) => b.length - a.length)[0];
  return ROWS.filter(({ list }) => list === longest);
}
