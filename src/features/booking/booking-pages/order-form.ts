import { formField } from '../../../http/forms.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import type { ProductRow } from '../products/index.ts';
import { answerName, type FormState } from './fields.views.ts';
import type { Order } from './ports.ts';
import { instantOf, zoneOr } from './rules.ts';

const MAX_NAME = 120;

/**
 * Parses the booking form into an API order.
 *
 * @throws {AppError} BAD_REQUEST, field `customer.name`.
 */
export function parseOrder(product: ProductRow, body: unknown): Order {
  const name = formField(body, 'name').trim();
  if (name === '' || name.length > MAX_NAME) throw badRequest('customer.name', 'Enter your name.');
  const startsAt = instantOf(formField(body, 'start'));
  const cohortId = formField(body, 'cohort');
  const code = formField(body, 'code').trim();
  const zone = zoneOr(formField(body, 'zone'), '');
  const answers = (product.intake_fields ?? []).flatMap(({ key, type }): [string, string | boolean][] => {
    const text = formField(body, answerName(key));
    return type === 'CHECKBOX' ? [[key, text === 'true']] : text === '' ? [] : [[key, text]];
  });
  return {
    productId: product.id,
    ...(startsAt !== null && { startsAt }),
    ...(cohortId !== '' && { cohortId }),
    customer: {
      name,
      email: formField(body, 'email'),
      timezone: zone === '' ? null : zone,
    },
    intakeAnswers: Object.fromEntries(answers),
    ...(code !== '' && { discountCode: code }),
  };
}

/** Form inputs by API field. */
const INPUTS: Readonly<Record<string, string>> = {
  'customer.name': 'name',
  'customer.email': 'email',
  email: 'email',
  startsAt: 'start',
  discountCode: 'code',
};
const ANSWER = 'intakeAnswers.';

/**
 * Returns the submitted values and the problem to show.
 *
 * @param form 'waitlist' has no inputs for the time and the cohort, so problems with them concern the form as
 *   a whole.
 * @throws errors that the customer cannot correct.
 */
export function formStateOf(body: unknown, error: unknown, form: 'order' | 'waitlist' = 'order'): FormState {
  if (!(error instanceof AppError) || error.code === 'NOT_FOUND') throw error;
  const { field = null, status, message: text } = error;
  const known = field?.startsWith(ANSWER) ? answerName(field.slice(ANSWER.length)) : INPUTS[field ?? ''];
  const input = form === 'waitlist' && known !== 'email' ? null : (known ?? null);
  return { typed: (name) => formField(body, name), problem: { status, text, input } };
}
