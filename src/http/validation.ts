import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { type AppError, badRequest, notFound } from '../kernel/errors.ts';
import { schemaValidator } from '../platform/schema-validator.ts';
import { validationMessage } from './validation-message.ts';

const options = { useDefaults: true, removeAdditional: false };
/** Bodies are taken as they are: `"100"` is no integer (docs/decisions/lists-and-ids.md#bodies). */
const bodies = schemaValidator({ ...options, coerceTypes: false });
/** Query and path are text, so their schemas coerce; parameters that are not declared are left out. */
const texts = schemaValidator({ ...options, coerceTypes: true, removeAdditional: 'all' });
const FIELD_LENGTH = 200;

export type InputPart = 'body' | 'query' | 'params';

/**
 * Compiled when it is first asked for: to compile those of all routes takes a tenth of a second of each start.
 *
 * @returns a check that gives the typed value, or throws 400 BAD_REQUEST naming the first offending input.
 */
export function compileInput<S extends TSchema>(schema: S, part: InputPart): (value: unknown) => Static<S> {
  let validate: ValidateFunction<Static<S>> | undefined;
  return (value) => {
    validate ??= (part === 'body' ? bodies : texts).compile<Static<S>>(schema);
    if (!validate(value)) throw toBadRequest(validate.errors?.[0], part);
    if (part !== 'body') assertNoNul(value, part);
    return value;
  };
}

/** PostgreSQL has no NUL in text: such an id is none of ours, and such a filter is malformed. */
function assertNoNul(values: unknown, part: 'query' | 'params'): void {
  for (const [name, value] of Object.entries(Object(values))) {
    if (typeof value !== 'string' || !value.includes('\0')) continue;
    throw part === 'params' ? notFound() : badRequest(name, `${name} must not contain NUL characters.`);
  }
}

function toBadRequest(error: ErrorObject | undefined, part: InputPart): AppError {
  const segments = (error?.instancePath ?? '').split('/').slice(1).map(unescapePointer);
  const missing: unknown = error?.params.missingProperty;
  if (error?.keyword === 'required' && typeof missing === 'string') segments.push(missing);
  const unexpected: unknown = error?.params.additionalProperty;
  if (typeof unexpected === 'string') segments.push(unexpected);
  const field = segments.join('.').slice(0, FIELD_LENGTH);
  const reason = error === undefined ? 'is not valid' : validationMessage(error);
  return field === '' ? badRequest(part, `The ${part} ${reason}.`) : badRequest(field, `${field} ${reason}.`);
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

const SUSPECT = /\\u(?:0000|d[89a-f])/i;

/**
 * Refuses strings that PostgreSQL cannot hold: NUL, and lone surrogates.
 *
 * @param text the raw JSON, which can only hide them behind an escape.
 */
export function assertNoInvalidText(text: string, value: unknown): void {
  if (!SUSPECT.test(text)) return;
  const stack: [string, unknown][] = [['', value]];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const [path, node] = entry;
    if (typeof node === 'string' && (node.includes('\0') || !node.isWellFormed())) {
      throw badRequest(
        path === '' ? 'body' : path.slice(0, FIELD_LENGTH),
        'Text must not contain NUL or unpaired surrogates.',
      );
    }
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, child] of Object.entries(node)) {
      if (key.includes('\0') || !key.isWellFormed()) {
        throw badRequest(
          path === '' ? 'body' : path.slice(0, FIELD_LENGTH),
          'Field names must not contain NUL or unpaired surrogates.',
        );
      }
      stack.push([path === '' ? key : `${path}.${key}`, child]);
    }
  }
}
