import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { named } from '../../http/named.ts';

const data = named(
  'DiscountCodeEventData',
  Type.Object({
    discountCodeId: Type.String(),
    code: Type.String(),
    usedCount: Type.Integer(),
    sequence: Type.Integer({ minimum: 1, description: 'Counts the events about this code.' }),
  }),
);
const sample = {
  discountCodeId: 'dsc_01kafe3n4pfx2v9yq6m8d7t5zr',
  code: 'EARLY',
  usedCount: 50,
  sequence: 1,
};

export const discountCodeExhausted = defineEvent({
  type: 'booking.discount_code.exhausted',
  description: 'A discount code was used as often as it may be.',
  data,
  sample,
  notice: {
    severity: 'INFO',
    words: ({ discountCodeId: id, code, usedCount }) => ({
      title: `The discount code ${code} is used up`,
      body: `It was used ${usedCount} times.`,
      resource: { type: 'DISCOUNT_CODE', id },
    }),
  },
});

export const discountCodeExpired = defineEvent({
  type: 'booking.discount_code.expired',
  description: 'The time of a discount code is over.',
  data,
  sample: { ...sample, usedCount: 12 },
});

export const discountCodeEvents: EventDefinition[] = [discountCodeExhausted, discountCodeExpired];
