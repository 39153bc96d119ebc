import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

export type CsvRow = readonly (string | number | null)[];
export type CsvRows = AsyncIterable<CsvRow>;

export const CSV_TYPE = 'text/csv; charset=utf-8';

/** Sends a table as it is read (RFC 4180), for as long as the receiver takes it. */
export function sendCsv(
  reply: FastifyReply,
  table: { name: string; columns: readonly string[]; rows: CsvRows },
): FastifyReply {
  reply.headers({
    'Content-Type': CSV_TYPE,
    'Content-Disposition': `attachment; filename="${table.name}.csv"`,
  });
  return reply.send(Readable.from(linesOf(table.columns, table.rows)));
}

async function* linesOf(columns: readonly string[], rows: CsvRows): AsyncGenerator<string> {
  yield lineOf(columns);
  for await (const row of rows) yield lineOf(row);
}

const lineOf = (cells: CsvRow): string => `${cells.map(cellOf).join(',')}\r\n`;

function cellOf(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  // Spreadsheets run what begins like a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function isCsvRows(value: unknown): value is CsvRows {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
