import { Ajv, type Options, type ValidateFunction } from 'ajv';
import formatsPlugin from 'ajv-formats';
import type { Static, TSchema } from 'typebox';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;
const EARLIEST_MS = Date.parse('0001-01-01T00:00:00Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** RFC 3339, narrowed to what JavaScript and PostgreSQL both hold: no leap second, years 1 to 9999. */
export function isInstant(text: string): boolean {
  if (!INSTANT.test(text)) return false;
  try {
    const ms = Temporal.Instant.from(text).epochMilliseconds;
    return ms >= EARLIEST_MS && ms <= LATEST_MS;
  } catch {
    return false;
  }
}

/** A validator of JSON schemas that knows our formats. */
export function schemaValidator(options: Options): Ajv {
  const ajv = new Ajv({ strict: false, allErrors: false, ...options });
  formatsPlugin.default(ajv);
  return ajv.addFormat('date-time', isInstant);
}

/** Compiled validator of a schema. */
export interface CompiledSchema<S extends TSchema> {
  matches(value: unknown): value is Static<S>;
  /** @returns where it does not fit, and why (`.size must be integer`), or null. */
  firstError(value: unknown): string | null;
}

const plain = schemaValidator({});

/** Compiled when it is first asked for: to compile all at each start would take a tenth of a second. */
export function compileSchema<S extends TSchema>(schema: S): CompiledSchema<S> {
  let compiled: ValidateFunction<Static<S>> | undefined;
  const check = () => {
    compiled ??= plain.compile<Static<S>>(schema);
    return compiled;
  };
  return {
    matches: (value): value is Static<S> => check()(value),
    firstError(value) {
      const validate = check();
      if (validate(value)) return null;
      const [error] = validate.errors ?? [];
      return `${error?.instancePath.replaceAll('/', '.') ?? ''} ${error?.message ?? 'is not valid'}`;
    },
  };
}
