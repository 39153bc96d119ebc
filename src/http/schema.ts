import Type, { type TSchema, type TUnsafe } from 'typebox';
import { badRequest } from '../kernel/errors.ts';
import { VISIBILITIES } from '../kernel/visibility.ts';

/** The JSON types a schema can be null beside, in the form that the serialiser handles fastest. */
type Scalar = { type: 'string' | 'integer' | 'number' | 'boolean' };

/** `T or null`, written as a type array (JSON Schema 2020-12, OpenAPI 3.1). */
export function Nullable<S extends TSchema & Scalar>(schema: S): TUnsafe<Type.Static<S> | null> {
  const { enum: values, ...rest } = { enum: undefined, ...schema };
  const nullable = { ...rest, type: [schema.type, 'null'] };
  return Type.Unsafe<Type.Static<S> | null>(
    Array.isArray(values) ? { ...nullable, enum: [...values, null] } : nullable,
  );
}

/** A string out of a fixed set. */
export function OneOf<const V extends readonly string[]>(
  values: V,
  options: object = {},
): TUnsafe<V[number]> & { type: 'string' } {
  return Object.assign(Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options }), {
    type: 'string' as const,
  });
}

/** An instant as the API writes it: ISO 8601, UTC. */
export const Instant = Type.String({ format: 'date-time', examples: ['2026-11-20T09:00:00.000Z'] });

/** Any object or array schema, or null. */
export function NullableObject<S extends TSchema>(schema: S): TUnsafe<Type.Static<S> | null> {
  return Type.Unsafe<Type.Static<S> | null>({ anyOf: [schema, { type: 'null' }] });
}

/** The path parameter of one resource. */
export const IdParams = Type.Object({ id: Type.String() });

/** The answer of a DELETE that removes the resource. */
export const Deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export const Visibility = OneOf(VISIBILITIES);
export const Title = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
/** Any JSON object, as it is. */
export const AnyObject = Type.Unsafe<object>({ type: 'object', additionalProperties: true });

/** At most 20 keys of 40 characters with values of 500 (`api.md` C3.1). */
export const Metadata = Type.Record(
  Type.String({ pattern: '^[\\s\\S]{1,40}$' }),
  Type.String({ maxLength: 500 }),
  { maxProperties: 20, additionalProperties: false },
);

/**
 * The comma list of a filter such as `status=READY,FAILED`.
 *
 * @throws {AppError} BAD_REQUEST with the name of the filter.
 */
export function parseList<const V extends string>(
  field: string,
  values: readonly V[],
  text: string | undefined,
): V[] | undefined {
  return text?.split(',').map((item) => {
    const known = values.find((value) => value === item.trim());
    if (known === undefined) throw badRequest(field, `${field} is a list out of ${values.join(', ')}.`);
    return known;
  });
}
