import Type, { type Static, type TOptional, type TSchema } from 'typebox';

/** Setting of a resource: its column, its schemas in requests and responses, and its example in OpenAPI. */
interface Field<C extends string, I extends TSchema, O extends TSchema, V> {
  column: C;
  input: I;
  output: O;
  example: Static<O>;
  /** Converts the value of a request to that of the column; omitted if they are equal. */
  toColumn?(value: Static<I>): V;
}

type AnyField = Field<string, TSchema, TSchema, unknown>;
type Fields = Record<string, AnyField>;
type ColumnValue<F extends AnyField> = F extends Field<string, TSchema, TSchema, infer V> ? V : never;

/** Schemas, columns and conversion derived from the fields of a resource. */
interface FieldTable<F extends Fields> {
  /** Columns that a query of the resource selects. */
  columns: F[keyof F]['column'][];
  /** Properties of the request that changes the resource, all optional. */
  input: { [K in keyof F]: TOptional<F[K]['input']> };
  /** Properties of the response. */
  output: { [K in keyof F]: F[K]['output'] };
  /** Example of the response in OpenAPI. */
  example: { [K in keyof F]: F[K]['example'] };
  /** Returns the columns of the fields that the input contains. */
  toColumns(input: { [K in keyof F]?: Static<F[K]['input']> }): {
    [K in keyof F as F[K]['column']]?: ColumnValue<F[K]>;
  };
}

/**
 * Declares a field: infers its types, among them the name of the column. Without `NoInfer`, `fieldTable` would
 * infer `unknown` for the value of the column.
 */
export function field<const C extends string, I extends TSchema, O extends TSchema, V = Static<I>>(
  declared: Field<C, I, O, V>,
): Field<C, I, O, NoInfer<V>> {
  return declared;
}

/** Builds the table of the fields of a resource. */
export function fieldTable<F extends Fields>(fields: F): FieldTable<F>;
export function fieldTable(fields: Fields): FieldTable<Fields> {
  const entries = Object.entries(fields);
  const derive = <T>(of: (one: AnyField) => T) =>
    Object.fromEntries(entries.map(([name, one]) => [name, of(one)]));
  return {
    columns: entries.map(([, { column }]) => column),
    input: derive(({ input }) => Type.Optional(input)),
    output: derive(({ output }) => output),
    example: derive(({ example }) => example),
    toColumns(input) {
      const columns: Record<string, unknown> = {};
      for (const [name, { column, toColumn }] of entries) {
        const value = input[name];
        if (value !== undefined) columns[column] = toColumn === undefined ? value : toColumn(value);
      }
      return columns;
    },
  };
}
