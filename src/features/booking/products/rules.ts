import { badRequest } from '../../../kernel/errors.ts';
import type { IntakeField } from '../../../platform/db/json-columns.ts';

/** Validates rules that the schema cannot express. @throws {AppError} BAD_REQUEST naming the input. */
export function assertProduct(input: {
  thumbnailUrl?: string | null;
  intakeFields?: readonly IntakeField[] | null;
}): void {
  assertPicture(input.thumbnailUrl ?? null);
  assertFields(input.intakeFields ?? []);
}

function assertPicture(url: string | null): void {
  if (url === null) return;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return;
  throw badRequest('thumbnailUrl', 'thumbnailUrl must be a URL, such as https://example.com/image.jpg.');
}

function assertFields(fields: readonly IntakeField[]): void {
  const keys = new Set<string>();
  for (const [index, { key, type, options }] of fields.entries()) {
    const at = `intakeFields.${index}`;
    if (keys.has(key)) throw badRequest(`${at}.key`, `Duplicate field key: ${key}.`);
    keys.add(key);
    if (type === 'SELECT' && options === undefined) {
      throw badRequest(`${at}.options`, 'options is required for SELECT fields.');
    }
    if (type !== 'SELECT' && options !== undefined) {
      throw badRequest(`${at}.options`, 'options is only allowed for SELECT fields.');
    }
  }
}
