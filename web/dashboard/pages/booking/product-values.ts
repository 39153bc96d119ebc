import type { Shape } from '../../app/shape.ts';
import { centsOf, dollarsOf } from '../../components/money-input.tsx';

type Product = Shape<'BookingProduct'>;
type Field = NonNullable<Product['intakeFields']>[number];

export const TYPES = ['ONE_TO_ONE', 'LIVE_CLASS', 'COHORT'] as const;
export const FIELD_TYPES = ['TEXT', 'LONGTEXT', 'SELECT', 'CHECKBOX', 'EMAIL', 'PHONE'] as const;
export const MAX_FIELDS = 20;

/** Question in the form; its options are one per line. */
export type Question = Omit<Field, 'options'> & { options: string };

export const NEW_QUESTION: Question = { key: '', label: '', type: 'TEXT', required: false, options: '' };

export const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || []);
const orNull = (text: string) => (text.trim() === '' ? null : text.trim());

export function valuesOf(product: Product | null) {
  return {
    title: product?.title ?? '',
    type: product?.type ?? ('ONE_TO_ONE' as const),
    price: dollarsOf(product?.priceCents ?? null),
    description: product?.description ?? '',
    durationMin: product?.durationMin ?? 60,
    bufferMin: product?.bufferMin ?? 0,
    capacity: product?.capacity ?? 1,
    recordable: product?.recordable ?? false,
    replayAccessDays: product?.replayAccessDays ?? 30,
    refundPolicyDays: product?.refundPolicyDays ?? 0,
    slug: product?.slug ?? '',
    thumbnailUrl: product?.thumbnailUrl ?? '',
    intakeFields: (product?.intakeFields ?? []).map(
      ({ options, ...field }): Question => ({ ...field, options: (options ?? []).join('\n') }),
    ),
  };
}

export type Values = ReturnType<typeof valuesOf>;

export function bodyOf(values: Values): Shape<'BookingProductCreate'> {
  const { price, description, slug, thumbnailUrl, intakeFields, ...others } = values;
  return {
    ...others,
    priceCents: centsOf(price) ?? 0,
    description: orNull(description),
    slug: orNull(slug),
    thumbnailUrl: orNull(thumbnailUrl),
    intakeFields: intakeFields.length === 0 ? null : named(intakeFields).map(toField),
  };
}

function toField({ options, ...field }: Question): Field {
  return field.type === 'SELECT' ? { ...field, options: [...new Set(linesOf(options))] } : field;
}

/** Assigns keys to questions. Answers refer to them, so existing questions keep theirs. */
function named(questions: readonly Question[]): Question[] {
  const taken = new Set(questions.map(({ key }) => key));
  return questions.map((question) => {
    if (question.key !== '') return question;
    let number = 1;
    while (taken.has(`question${number}`)) number += 1;
    const key = `question${number}`;
    taken.add(key);
    return { ...question, key };
  });
}
