import type { PostgresType } from 'postgres';
import { dateFromMs } from '../../kernel/clock.ts';

/**
 * Arrays of one dimension, as text (https://www.postgresql.org/docs/18/arrays.html#ARRAYS-IO). The driver would ask
 * each new connection for them, and end the program where the server hangs up on that question.
 */
export const arrayTypes: Record<string, PostgresType> = {
  textArray: of([1003, 1009, 1015, 1041, 1231, 2951], String),
  numberArray: of([1005, 1007, 1016, 1021, 1022, 1028], Number),
  booleanArray: of([1000], (text) => text === 't'),
  dateArray: of([1115, 1182, 1185], (text) => dateFromMs(Date.parse(text))),
  jsonArray: of([199, 3807], (text) => JSON.parse(text)),
  byteaArray: of([1001], (text) => Buffer.from(text.slice(2), 'hex')),
};

/** Object ids of all array types that are read and written. */
export const ARRAY_OIDS = Object.values(arrayTypes).flatMap(({ from }) => from);

function of(oids: number[], read: (text: string) => unknown): PostgresType {
  const parse = (text: string) => parseArray(text, read);
  return { to: oids[0] ?? 0, from: oids, parse, serialize: serializeArray };
}

/** Quoted, with what is escaped in it; or bare. */
const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,]+)/gs;

function parseArray(text: string, read: (text: string) => unknown): unknown[] {
  if (!/^\{(?!\{)/.test(text)) throw new Error('an array of one dimension was expected');
  return [...text.slice(1, -1).matchAll(ELEMENT)].map(([, quoted, bare = '']) => {
    if (quoted !== undefined) return read(quoted.replace(/\\(.)/gs, '$1'));
    return bare === 'NULL' ? null : read(bare);
  });
}

/** @param value text goes as it is. */
function serializeArray(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return `{${value.map((element) => (element === null ? 'NULL' : quote(textOf(element)))).join()}}`;
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function textOf(element: unknown): string {
  if (element === undefined) throw new Error('an element of an array may not be undefined');
  if (element instanceof Date) return element.toISOString();
  if (element instanceof Uint8Array) return `\\x${Buffer.from(element).toString('hex')}`;
  return String(element);
}
