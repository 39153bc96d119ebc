import Type, { type Static, type TOptional, type TSchema } from 'typebox';

/** Field that requests set and responses return: its column, its schemas and the example of the document. */
interface Field<C extends string, I extends TSchema, O extends TSchema, V> {
  column: C;
  input: I;
  output: O;
  example: Static<O>;
  /** Converts the value of a request for the column; absent where they are the same. */
  toColumn?(value: Static<I>): V;
}

type AnyField = Field<string, TSchema, TSchema, unknown>;
type Fields = Record<string, AnyField>;
type ColumnValue<F extends AnyField> = F extends Field<string, TSchema, TSchema, infer V> ? V : never;

/** What follows from the fields of a resource. */
interface FieldTable<F extends Fields> {
  /** Columns that a query of the resource selects. */
  columns: F[keyof F]['column'][];
  /** Properties of the request that changes the resource, all optional. */
  input: { [K in keyof F]: TOptional<F[K]['input']> };
  /** Properties of the response. */
  output: { [K in keyof F]: F[K]['output'] };
  /** Values of the response in the document. */
  example: { [K in keyof F]: F[K]['example'] };
  /** Returns the columns of the fields in the input; absent fields have none. */
  toColumns(input: { [K in keyof F]?: Static<F[K]['input']> }): {
    [K in keyof F as F[K]['column']]?: ColumnValue<F[K]>;
  };
}

/** Declares a field; infers the types that `fieldTable` derives from. */
export function field<const C extends string, I extends TSchema, O extends TSchema, V = Static<I>>(
  declared: Field<C, I, O, V>,
): Field<C, I, O, NoInfer<V>> {
  return declared;
}

/** Derives schemas, example, columns and the conversion of requests from the fields of a resource. */
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
