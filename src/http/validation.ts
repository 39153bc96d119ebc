import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formatsPlugin from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { type AppError, badRequest } from '../kernel/errors.ts';

const options = { useDefaults: true, removeAdditional: false, strict: false, allErrors: false };
/** Bodies are taken as they are: `"100"` is no integer (`api.md` C0). */
const bodies = new Ajv({ ...options, coerceTypes: false });
/** Query and path are text, so their schemas coerce. */
const texts = new Ajv({ ...options, coerceTypes: true });
formatsPlugin.default(bodies);
formatsPlugin.default(texts);

export type InputPart = 'body' | 'query' | 'params';

/** @returns a check that gives the typed value, or throws 400 BAD_REQUEST naming the first offending input. */
export function compileInput<S extends TSchema>(schema: S, part: InputPart): (value: unknown) => Static<S> {
  const validate: ValidateFunction<Static<S>> = (part === 'body' ? bodies : texts).compile<Static<S>>(schema);
  return (value) => {
    if (validate(value)) return value;
    throw toBadRequest(validate.errors?.[0], part);
  };
}

function toBadRequest(error: ErrorObject | undefined, part: InputPart): AppError {
  const segments = (error?.instancePath ?? '').split('/').slice(1).map(unescapePointer);
  const missing: unknown = error?.params.missingProperty;
  if (error?.keyword === 'required' && typeof missing === 'string') segments.push(missing);
  const field = segments.join('.');
  if (field === '') return badRequest(part, `The ${part} ${error?.message ?? 'is not valid'}.`);
  const reason = error?.keyword === 'required' ? 'is required' : (error?.message ?? 'is not valid');
  const allowed: unknown = error?.params.allowedValues;
  const choices = Array.isArray(allowed) ? `: ${allowed.join(', ')}` : '';
  return badRequest(field, `${field} ${reason}${choices}.`);
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
export function assertStorable(text: string, value: unknown): void {
  if (!SUSPECT.test(text)) return;
  const stack: [string, unknown][] = [['', value]];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const [path, node] = entry;
    if (typeof node === 'string' && (node.includes('\0') || !node.isWellFormed())) {
      throw badRequest(path === '' ? 'body' : path, 'Text may not contain NUL or unpaired surrogates.');
    }
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, child] of Object.entries(node)) {
      if (key.includes('\0') || !key.isWellFormed()) {
        throw badRequest(path === '' ? 'body' : path, 'A name may not contain NUL or unpaired surrogates.');
      }
      stack.push([path === '' ? key : `${path}.${key}`, child]);
    }
  }
}
