import Type from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant } from '../../../http/schema.ts';

export const SlotList = namedSchema(
  'SlotList',
  Type.Object({
    productId: IdOf('bkp'),
    timezone: Type.String({ description: 'IANA time zone of `from`, `to` and `localStart`.' }),
    slots: Type.Array(
      Type.Object({
        startsAt: Instant,
        endsAt: Instant,
        localStart: Type.String({
          description: 'Local start time in `timezone`.',
          examples: ['2026-11-20T10:00'],
        }),
        seatsLeft: Type.Integer({ minimum: 1, description: 'Seats left in a class; otherwise 1.' }),
      }),
    ),
  }),
  {
    productId: 'bkp_01kafe3n4pfx2v9yq6m8d7t5zr',
    timezone: 'Europe/Berlin',
    slots: [
      {
        startsAt: '2026-11-20T09:00:00.000Z',
        endsAt: '2026-11-20T10:00:00.000Z',
        localStart: '2026-11-20T10:00',
        seatsLeft: 1,
      },
    ],
  },
);
