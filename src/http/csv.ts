import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

export type CsvRow = readonly (string | number | null)[];
export type CsvRows = AsyncIterable<CsvRow>;

export const CSV_TYPE = 'text/csv; charset=utf-8';

/**
 * Sends a table as it is read (RFC 4180), for as long as the receiver takes it.
 *
 * @throws what keeps the first row from being read: nothing was sent then.
 */
export async function sendCsv(
  reply: FastifyReply,
  { name, columns, rows }: { name: string; columns: readonly string[]; rows: CsvRows },
): Promise<FastifyReply> {
  const rest = rows[Symbol.asyncIterator]();
  const first = await rest.next();
  reply.headers({
    'Content-Type': CSV_TYPE,
    'Content-Disposition': `attachment; filename="${name}.csv"`,
  });
  return reply.send(Readable.from(linesOf(columns, first, rest)));
}

/**
 * Returns the file name of a table: the last segment of its path. For one resource, `videos-vid_….csv`: the
 * preceding segment and the ID.
 */
export function tableName(path: string, params: unknown): string {
  const [before = '', last = ''] = path.split('/').slice(-2);
  const [, parameter] = /^\{(\w+)\}$/.exec(last) ?? [];
  if (parameter === undefined) return last;
  const which = new Map(Object.entries(Object(params))).get(parameter);
  // Between quotes of a header, and a name of a file on every system.
  return `${before}-${which}`.replaceAll(/[^\w-]/g, '_');
}

async function* linesOf(
  columns: readonly string[],
  first: IteratorResult<CsvRow>,
  rest: AsyncIterator<CsvRow>,
): AsyncGenerator<string> {
  try {
    yield lineOf(columns);
    for (let row = first; row.done !== true; row = await rest.next()) yield lineOf(row.value);
  } finally {
    await rest.return?.();
  }
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
