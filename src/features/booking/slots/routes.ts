import Type from 'typebox';
import { requiresRead } from '../../../http/access.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { IdParams } from '../../../http/schema.ts';
import { SlotList } from './schemas.ts';
import type { Slots } from './service.ts';

const Day = (description: string) =>
  Type.Optional(Type.String({ maxLength: 40, description, examples: ['2026-11-20'] }));

/** `/booking/products/{id}/slots` (docs/concepts/booking-availability.md#slots). */
export function slotRoutes({ slots }: { slots: Slots }): Route[] {
  return [
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'slots.list',
      method: 'GET',
      path: '/booking/products/{id}/slots',
      summary: 'List available slots',
      description: 'At most 62 days and 10,000 slots. Empty for COHORT and archived products.',
      params: IdParams('bkp', 'product'),
      query: Type.Object({
        from: Day('First day, in `timezone`; defaults to today.'),
        to: Day('Last day, inclusive; defaults to 27 days after `from`.'),
        timezone: Type.Optional(
          Type.String({ maxLength: 64, description: "IANA time zone; defaults to the creator's." }),
        ),
      }),
      reply: { status: 200, schema: SlotList },
      async handler({ caller }, { params, query }) {
        const { timezone, slots: found } = await slots.list(caller.workspaceId, params.id, query);
        return {
          productId: params.id,
          timezone,
          slots: found.map(({ startsAt, endsAt, localStart, seatsLeft }) => ({
            startsAt: startsAt.toISOString(),
            endsAt: endsAt.toISOString(),
            localStart,
            seatsLeft,
          })),
        };
      },
    }),
  ];
}
