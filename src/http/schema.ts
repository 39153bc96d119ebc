import Type, { type TSchema, type TUnsafe } from 'typebox';
import { MODES, PERMISSIONS, SCOPES } from '../kernel/access.ts';
import { badRequest } from '../kernel/errors.ts';
import type { IdPrefix } from '../kernel/ids.ts';
import { VISIBILITIES } from '../kernel/visibility.ts';
import { namedSchema } from './named-schema.ts';

/** JSON types of a nullable schema, in the form that the serializer handles fastest. */
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

const ID_TEXT = '01kafe3n4pfx2v9yq6m8d7t5zr';
const exampleId = (prefix: IdPrefix) => `${prefix}_${ID_TEXT}`;
const idPattern = (prefix: IdPrefix) => `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;

/** The id of a resource in an answer. */
export function IdOf(prefix: IdPrefix, description?: string) {
  const told = description === undefined ? {} : { description };
  return Type.String({ pattern: idPattern(prefix), examples: [exampleId(prefix)], ...told });
}

/** The id of a resource in a path. Any other text is looked up too, and not found: only the document has the pattern. */
export function PathId(prefix: IdPrefix, noun: string) {
  return Type.String({
    description: `ID of the ${noun}.`,
    'x-pattern': idPattern(prefix),
    examples: [exampleId(prefix)],
  });
}

/**
 * A filter of one or more values, comma-separated: a list in the document, text for its handler, which reads it
 * by `parseList`.
 */
export function CommaList(values: readonly string[], description = 'One or more of these values.') {
  return Type.Optional(Type.String({ description, 'x-items': OneOf(values) }));
}

/** Returns the schema of comma-separated values that are not a fixed set. */
export function CommaTexts(description: string, item: object = { minLength: 1 }) {
  return Type.Optional(Type.String({ description, 'x-items': { type: 'string', ...item } }));
}

/** Any object or array schema, or null. */
export function NullableObject<S extends TSchema>(schema: S): TUnsafe<Type.Static<S> | null> {
  return Type.Unsafe<Type.Static<S> | null>({ anyOf: [schema, { type: 'null' }] });
}

/** The path parameter of one resource. */
export function IdParams(prefix: IdPrefix, noun: string) {
  return Type.Object({ id: PathId(prefix, noun) });
}

/** The answer of a DELETE that removes the resource. */
export const Deleted = namedSchema(
  'Deleted',
  Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
  {
    id: exampleId('str'),
    deleted: true,
  },
);

/** Why something failed. */
export const Problem = namedSchema(
  'Problem',
  Type.Object({
    code: Type.String({ description: 'Machine-readable code.' }),
    message: Type.String({ description: 'Human-readable message.' }),
  }),
  { code: 'NO_VIDEO_TRACK', message: 'The file contains no image.' },
);

// Common shapes are matched by content, so naming them once is sufficient.
namedSchema('Mode', OneOf(MODES));
namedSchema('KeyScope', OneOf(SCOPES));
namedSchema('Permission', OneOf(PERMISSIONS));
export const Visibility = namedSchema('Visibility', OneOf(VISIBILITIES));
/** Tiers whose members may view TIER content. */
export const TierIds = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 20,
  uniqueItems: true,
  description: 'For visibility TIER: tiers with access. Empty: members of any tier.',
});
export const Title = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
/** URL of a file that the platform fetches (docs/concepts/imports.md). */
export const SourceUrl = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: '`https:` or `http:` URL of the file, or of a watch page of a PeerTube instance.',
});
/** Any JSON object, as it is. */
export const AnyObject = Type.Unsafe<object>({ type: 'object', additionalProperties: true });

/** At most 20 keys of 40 characters with values of 500 (docs/concepts/conventions.md#values). */
export const Metadata = namedSchema(
  'Metadata',
  Type.Record(Type.String({ pattern: '^[\\s\\S]{1,40}$' }), Type.String({ maxLength: 500 }), {
    maxProperties: 20,
    additionalProperties: false,
    description: 'Your own key-value data; stored and returned unchanged.',
  }),
  { season: '2' },
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
  const items = text?.split(',').map((item) => {
    const known = values.find((value) => value === item.trim());
    if (known === undefined)
      throw badRequest(field, `${field} must be a comma-separated list of: ${values.join(', ')}.`);
    return known;
  });
  // A page is the union of one page per value: a repeated value would repeat its rows.
  return items === undefined ? undefined : [...new Set(items)];
}
