import type { Sql } from 'postgres';

const HEADER = `/** The tables of the migrated database, written by npm run generate. JSON columns: \`json-columns.ts\`. */
import type { ColumnType } from 'kysely';
import type { JsonColumns } from './json-columns.ts';

type Generated<T> =
  T extends ColumnType<infer S, infer I, infer U>
    ? ColumnType<S, I | undefined, U>
    : ColumnType<T, T | undefined, T>;
`;

/** TypeScript type of each column type, as the driver reads and accepts it. */
const TYPES: Readonly<Record<string, string>> = {
  bigint: 'number',
  boolean: 'boolean',
  bytea: 'Uint8Array',
  'double precision': 'number',
  integer: 'number',
  smallint: 'number',
  text: 'string',
  'timestamp with time zone': 'Date',
  uuid: 'string',
  xid8: 'string',
};
const LINE = 110;

interface Column {
  table: string;
  column: string;
  type: string;
  nullable: boolean;
  /** PostgreSQL has a default if an insert omits the value. */
  filled: boolean;
}

interface Check {
  table: string;
  definition: string;
}

/** `column in ('A', 'B')`, as PostgreSQL writes it back. */
const LIST = /^CHECK \(\("?(\w+)"? = (?:ANY \(ARRAY\[(.+)\]\)|('.+'::text))\)\)$/;
const VALUE = /'((?:[^']|'')*)'::text/g;
const NUMBERS = /^\d+(, \d+)*$/;

/** The types of every table, and the values of every column that a CHECK limits to a list. */
export async function tableTypes(sql: Sql): Promise<string> {
  const columns = await sql<Column[]>`
    select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type,
      not a.attnotnull as nullable, a.atthasdef or a.attidentity <> '' as filled
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped
    order by c.relname collate "C", a.attnum`;
  const checks = await sql<Check[]>`
    select c.relname as table, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.connamespace = 'public'::regnamespace and k.contype = 'c' and not c.relispartition
    order by c.relname collate "C", k.conname collate "C"`;
  const lists = new Map(
    checks.flatMap(({ table, definition }) => {
      const [, column, several, one] = LIST.exec(definition) ?? [];
      const values = several ?? one;
      if (column === undefined || values === undefined) return [];
      const texts = [...values.matchAll(VALUE)].map(([, value = '']) => value.replaceAll("''", "'"));
      const list = NUMBERS.test(values) ? values.split(', ').map(Number) : texts;
      return [[`${table}.${column}`, list] as const];
    }),
  );
  const tables = [...Map.groupBy(columns, ({ table }) => table)];
  return [
    HEADER,
    valuesOf(tables, lists),
    ...tables.map(([table, of]) => interfaceOf(table, of, lists)),
    `/** Every table, as Kysely sees it; the SQL itself is in \`migrations/\`. */`,
    `export interface Database {\n${tables.map(([name]) => `  ${name}: ${pascal(name)}Table;\n`).join('')}}\n`,
  ].join('\n');
}

type Lists = ReadonlyMap<string, readonly (string | number)[]>;

function valuesOf(tables: [string, Column[]][], lists: Lists): string {
  const listed = columnsWithList(tables, lists);
  const constants = listed.map(([table, of]) => {
    const lines = of.map(({ column, list }) => `    ${column}: ${literal(list)},\n`);
    return `  ${table}: {\n${lines.join('')}  },\n`;
  });
  const types = listed.flatMap(([table, of]) =>
    of.map(({ column }) => {
      const name = `export type ${pascal(table)}${pascal(column)} =`;
      const value = `(typeof VALUES.${table}.${column})[number];`;
      return `${name} ${value}\n`;
    }),
  );
  return `/** The values that a column may have, in the order of its CHECK. */
export const VALUES = {\n${constants.join('')}} as const;\n\n${types.join('')}`;
}

function columnsWithList(tables: [string, Column[]][], lists: Lists) {
  return tables.flatMap(([table, columns]) => {
    const of = columns.flatMap(({ column }) => {
      const list = lists.get(`${table}.${column}`);
      return list === undefined ? [] : [{ column, list }];
    });
    return of.length === 0 ? [] : [[table, of] as const];
  });
}

/** Formats the list on one line if it fits, like the formatter. */
function literal(list: readonly (string | number)[]): string {
  const values = list.map((value) =>
    typeof value === 'number' ? value : `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
  );
  const short = `[${values.join(', ')}]`;
  return short.length < LINE - 24 ? short : `[\n${values.map((value) => `      ${value},\n`).join('')}    ]`;
}

function interfaceOf(table: string, columns: Column[], lists: Lists): string {
  const lines = columns.map((column) => `  ${column.column}: ${typeOf(column, lists)};\n`);
  return `export interface ${pascal(table)}Table {\n${lines.join('')}}\n`;
}

function typeOf({ table, column, type, nullable, filled }: Column, lists: Lists): string {
  const value = lists.has(`${table}.${column}`)
    ? `${pascal(table)}${pascal(column)}`
    : valueType(table, column, type);
  const held = nullable ? `${value} | null` : value;
  return filled ? `Generated<${held}>` : held;
}

function valueType(table: string, column: string, type: string): string {
  if (type === 'jsonb' || type === 'json') return `JsonColumns['${table}']['${column}']`;
  const element = TYPES[type.replace(/\[\]$/, '')];
  if (element === undefined) throw new Error(`${table}.${column} is ${type}: add its type to TYPES`);
  return type.endsWith('[]') ? `${element}[]` : element;
}

function pascal(name: string): string {
  return name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
