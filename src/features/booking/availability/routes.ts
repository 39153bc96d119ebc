import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import type { Db } from '../../../platform/db/index.ts';
import { AvailabilityIn, AvailabilityOut, toAvailability } from './schemas.ts';
import type { Availability } from './service.ts';

/** `/booking/availability` (docs/concepts/booking-availability.md). */
export function availabilityRoutes({ availability, db }: { availability: Availability; db: Db }): Route[] {
  return [
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'availability.get',
      method: 'GET',
      path: '/booking/availability',
      summary: 'Get availability',
      description: 'Returns defaults until it is set: no windows, one hour of notice, 60 days ahead.',
      reply: { status: 200, schema: AvailabilityOut },
      handler: async ({ caller }) => toAvailability(await availability.of(db, caller.workspaceId)),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      operationId: 'availability.put',
      method: 'PUT',
      path: '/booking/availability',
      summary: 'Set availability',
      description:
        'Replaces the whole object; omitted fields get their defaults. Existing bookings are unchanged.',
      body: AvailabilityIn,
      reply: { status: 200, schema: AvailabilityOut },
      handler: async ({ caller }, { body }) =>
        toAvailability(await availability.put(caller.workspaceId, body)),
    }),
  ];
}
