import { CONTENT_ROWS, type Rows } from './growth-rows.ts';
import { SALES_ROWS } from './growth-sales-rows.ts';
import { WORK_ROWS } from './growth-work-rows.ts';

/** The rows of every list that `growth-cases.ts` asks for. */
export const ROWS: readonly Rows[] = [...CONTENT_ROWS, ...SALES_ROWS, ...WORK_ROWS];
