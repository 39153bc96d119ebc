import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { namedSchema } from '../../../http/named-schema.ts';

const data = namedSchema(
  'DiscountCodeEventData',
  Type.Object({
    discountCodeId: Type.String(),
    code: Type.String(),
    usedCount: Type.Integer(),
    sequence: Type.Integer({ minimum: 1, description: 'Increases with each event about this code.' }),
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
  description: 'A discount code reached its maximum number of uses.',
  data,
  sample,
  notice: {
    severity: 'INFO',
    words: ({ discountCodeId: id, code, usedCount }) => ({
      title: `Discount code ${code} is used up`,
      body: `It was used ${usedCount} times.`,
      resource: { type: 'DISCOUNT_CODE', id },
    }),
  },
});

export const discountCodeExpired = defineEvent({
  type: 'booking.discount_code.expired',
  description: 'A discount code expired.',
  data,
  sample: { ...sample, usedCount: 12 },
});

export const discountCodeEvents: EventDefinition[] = [discountCodeExhausted, discountCodeExpired];
