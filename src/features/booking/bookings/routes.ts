import Type from 'typebox';
import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route, type RouteOptions } from '../../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../../http/schema.ts';
import { type Caller, hasPermission } from '../../../kernel/access.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { lookupEmail } from '../../../kernel/email.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { BookingLinks } from './links.ts';
import type { BookingDetails } from './repository.ts';
import { Booking, CancelIn, RescheduleIn, SimulationIn, toBooking } from './schemas.ts';
import type { Bookings } from './service.ts';
import type { BookingSimulations } from './simulation.service.ts';

const Id = IdParams('bkg', 'booking');
const { booking } = VALUES;

interface Deps {
  bookings: Bookings;
  simulations: BookingSimulations;
  links: BookingLinks;
  cursors: CursorCodec;
}

const instant = (text: string) => dateFromMs(Temporal.Instant.from(text).epochMilliseconds);

/** `/booking/bookings` (docs/concepts/bookings.md). */
export function bookingRoutes({ bookings, simulations, links, cursors }: Deps): Route[] {
  const out = (caller: Caller, row: BookingDetails) =>
    toBooking(row, {
      mode: caller.mode,
      links,
      seesMoney: hasPermission(caller, 'finance:read'),
      isHost: caller.scope !== 'READ_ONLY' && hasPermission(caller, 'booking:write'),
    });
  const changed = {
    params: Id,
    reply: { status: 200, schema: Booking },
    errors: ['CONFLICT'],
  } as const satisfies RouteOptions;
  return [
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'bookings.list',
      method: 'GET',
      path: '/booking/bookings',
      summary: 'List bookings',
      description: 'Amounts are null without `finance:read`.',
      query: listQuery({
        status: CommaList(booking.status),
        productId: Type.Optional(
          Type.String({ maxLength: 64, description: 'Only bookings of this product.' }),
        ),
        cohortId: Type.Optional(Type.String({ maxLength: 64, description: 'Only bookings of this cohort.' })),
        customerEmail: Type.Optional(Type.String({ maxLength: 254, description: 'Full email address.' })),
        from: Type.Optional(
          Type.String({
            format: 'date-time',
            description: 'Only bookings that start at or after this time.',
          }),
        ),
        to: Type.Optional(
          Type.String({ format: 'date-time', description: 'Only bookings that start before this time.' }),
        ),
      }),
      reply: { status: 200, schema: Booking, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `bookings:${caller.workspaceId}`, query);
        const { productId, cohortId, customerEmail, from, to } = query;
        const filter = {
          status: parseList('status', booking.status, query.status),
          ...{ productId, cohortId },
          customerEmail: customerEmail === undefined ? undefined : (lookupEmail(customerEmail) ?? ''),
          from: from === undefined ? undefined : instant(from),
          to: to === undefined ? undefined : instant(to),
        };
        const rows = await bookings.list(caller.workspaceId, filter, list.request);
        return list.page(rows, (row) => out(caller, row));
      },
    }),
    defineRoute({
      ...requiresRead('booking:read'),
      operationId: 'bookings.get',
      method: 'GET',
      path: '/booking/bookings/{id}',
      summary: 'Get a booking',
      description: 'Includes the join links for the customer and the host.',
      params: Id,
      reply: { status: 200, schema: Booking },
      handler: async ({ caller }, { params }) =>
        out(caller, await bookings.get(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      ...changed,
      operationId: 'bookings.cancel',
      method: 'POST',
      path: '/booking/bookings/{id}/cancel',
      summary: 'Cancel a booking',
      description: 'The payment is refunded unless you specify otherwise. The customer is notified by email.',
      body: CancelIn,
      optionalBody: true,
      handler: async ({ caller }, { params, body }) =>
        out(caller, await bookings.cancel(caller.workspaceId, params.id, { ...body, by: 'CREATOR' })),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      ...changed,
      operationId: 'bookings.reschedule',
      method: 'POST',
      path: '/booking/bookings/{id}/reschedule',
      summary: 'Reschedule a booking',
      description: 'Releases the old time and books the new one atomically. The payment is unchanged.',
      body: RescheduleIn,
      handler: async ({ caller }, { params, body }) =>
        out(caller, await bookings.reschedule(caller.workspaceId, params.id, instant(body.startsAt))),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      ...changed,
      operationId: 'bookings.noShow',
      method: 'POST',
      path: '/booking/bookings/{id}/no-show',
      summary: 'Mark a booking as no-show',
      description: 'Possible after the start, also for COMPLETED bookings.',
      handler: async ({ caller }, { params }) =>
        out(caller, await bookings.markNoShow(caller.workspaceId, params.id)),
    }),
    defineRoute({
      ...requiresWrite('booking:write'),
      ...changed,
      operationId: 'bookings.simulate',
      method: 'POST',
      path: '/booking/bookings/{id}/simulate',
      summary: 'Simulate a booking event (test mode)',
      description: 'Test mode only: joins, customer actions, and the end of the booking.',
      onlyMode: 'test',
      body: SimulationIn,
      handler: async ({ caller }, { params, body }) =>
        out(caller, await simulations.simulate(caller.workspaceId, params.id, body)),
    }),
  ];
}
