import { badRequest } from '../../../kernel/errors.ts';
import type { IntakeField } from '../../../platform/db/json-columns.ts';

const MAX_TEXT = 500;
const MAX_LONG_TEXT = 5000;
const EMAIL = /^[^\s@"(),:;<>[\\\]]+@[^\s@.]+(\.[^\s@.]+)+$/;
const PHONE = /^\+?[\d\s().\-/]{5,30}$/;

export type IntakeAnswers = Record<string, string | boolean>;

/**
 * Parses the answers to the intake questions of a product; unknown keys are dropped.
 *
 * @throws {AppError} BAD_REQUEST, field `intakeAnswers.<key>`.
 */
export function parseIntakeAnswers(
  fields: readonly IntakeField[] | null,
  given: Readonly<Record<string, unknown>> | null | undefined,
): IntakeAnswers | null {
  if (fields === null || fields.length === 0) return null;
  const answers: IntakeAnswers = {};
  for (const field of fields) {
    const answer = readAnswer(field, given && Object.hasOwn(given, field.key) ? given[field.key] : undefined);
    if (answer !== null) answers[field.key] = answer;
  }
  return answers;
}

function readAnswer(field: IntakeField, given: unknown): string | boolean | null {
  const name = `intakeAnswers.${field.key}`;
  if (field.type === 'CHECKBOX') return readCheckbox(field, name, given);
  const text = given ?? '';
  if (typeof text !== 'string') throw badRequest(name, `The answer to "${field.label}" must be text.`);
  const answer = text.trim();
  if (answer === '') {
    if (field.required) throw badRequest(name, `"${field.label}" is required.`);
    return null;
  }
  const problem = problemOf(field, answer);
  if (problem !== null) throw badRequest(name, problem);
  return answer;
}

function readCheckbox({ label, required }: IntakeField, name: string, given: unknown): boolean | null {
  if (given !== undefined && given !== null && typeof given !== 'boolean') {
    throw badRequest(name, `The answer to "${label}" must be true or false.`);
  }
  if (required && given !== true) throw badRequest(name, `"${label}" must be checked.`);
  return given ?? null;
}

function problemOf({ type, label, options = [] }: IntakeField, answer: string): string | null {
  const most = type === 'LONGTEXT' ? MAX_LONG_TEXT : MAX_TEXT;
  if (answer.length > most) return `The answer to "${label}" must have at most ${most} characters.`;
  if (type === 'SELECT' && !options.includes(answer))
    return `The answer to "${label}" must be one of its options.`;
  if (type === 'EMAIL' && !EMAIL.test(answer)) return `The answer to "${label}" must be an email address.`;
  if (type === 'PHONE' && !PHONE.test(answer)) return `The answer to "${label}" must be a phone number.`;
  return null;
}
