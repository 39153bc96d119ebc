import type { ErrorObject } from 'ajv';

const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

const FORMATS: Record<string, string> = {
  'date-time': 'a date-time, such as 2026-11-20T09:00:00Z',
  date: 'a date, such as 2026-11-20',
  uri: 'a URL, such as https://example.com/',
};

const BOUNDS: Record<string, string> = {
  minimum: 'must be at least',
  maximum: 'must be at most',
  exclusiveMinimum: 'must be more than',
  exclusiveMaximum: 'must be less than',
};

/** Units that lengths are counted in. */
const COUNTED: Record<string, [bound: string, one: string, many: string]> = {
  minLength: ['must have at least', 'character', 'characters'],
  maxLength: ['must have at most', 'character', 'characters'],
  minItems: ['must have at least', 'item', 'items'],
  maxItems: ['must have at most', 'item', 'items'],
  minProperties: ['must have at least', 'member', 'members'],
  maxProperties: ['must have at most', 'member', 'members'],
};

/**
 * Returns the message for an input that its schema rejects, as the continuation of its name: `must be an
 * integer`.
 */
export function validationMessage({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'type':
      return `must be ${[params.type]
        .flat()
        .map((type) => TYPES[String(type)] ?? String(type))
        .join(' or ')}`;
    case 'enum':
      return `must be one of: ${[params.allowedValues].flat().join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`;
    case 'pattern':
      return `must match the pattern ${String(params.pattern)}`;
    case 'format':
      return `must be ${FORMATS[String(params.format)] ?? `of the format ${String(params.format)}`}`;
  }
  const bound = BOUNDS[keyword];
  if (bound !== undefined) return `${bound} ${String(params.limit)}`;
  const counted = COUNTED[keyword];
  return counted === undefined ? (message ?? 'is not valid') : countWords(counted, params.limit);
}

function countWords([bound, one, many]: [string, string, string], limit: unknown): string {
  if (limit === 1 && bound.endsWith('least')) return 'must not be empty';
  return `${bound} ${String(limit)} ${limit === 1 ? one : many}`;
}
