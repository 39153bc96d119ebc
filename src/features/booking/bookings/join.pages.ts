import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebAssets } from '../../../http/assets.ts';
import { messagePage, type Page, sendPage } from '../../../http/page.ts';
import { html } from '../../../platform/html.ts';
import { formatStart } from './format.ts';
import type { JoinRole } from './links.ts';
import type { BookingRooms, JoinLink } from './rooms.service.ts';

interface Deps {
  rooms: BookingRooms;
  assets: WebAssets;
}

type Asked = FastifyRequest<{ Params: { id: string }; Querystring: { token?: unknown } }>;

/**
 * Serves `/bookings/:id/join` and `/bookings/:id/host`: the signed links of the customer and the creator to
 * the room of a booking.
 */
export function bookingJoinPages({ rooms, assets }: Deps): (app: FastifyInstance) => void {
  const enter = async ({ params: { id }, query }: Asked, reply: FastifyReply, by: JoinRole) => {
    const way = typeof query.token === 'string' ? await rooms.enter(id, by, query.token) : null;
    if (way?.kind !== 'OPEN') return sendPage(reply, assets, way === null ? MISSING : pageOf(way));
    return reply
      .header('Cache-Control', 'no-store')
      .header('Referrer-Policy', 'no-referrer')
      .redirect(way.url, 303);
  };
  return (app) => {
    app.get('/bookings/:id/join', (request: Asked, reply) => enter(request, reply, 'join'));
    app.get('/bookings/:id/host', (request: Asked, reply) => enter(request, reply, 'host'));
  };
}

const head = html`<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">`;

const page = (status: number, heading: string, text: string): Page => ({
  status,
  title: heading,
  head,
  body: messagePage({ heading, text, isOff: true }),
  frames: "'none'",
});

const MISSING = page(
  404,
  'Booking not found.',
  'The link may be incomplete. Open the link in the email again.',
);

function pageOf({ kind, row }: Exclude<JoinLink, { kind: 'OPEN' }>): Page {
  if (kind === 'CANCELED') return page(410, 'The booking has been canceled.', 'It will not take place.');
  if (kind === 'REPLACED') {
    return page(
      410,
      'The booking was rescheduled.',
      'This link is outdated. Open the link in the latest email about the booking.',
    );
  }
  if (kind === 'OVER') return page(410, 'The booking has ended.', 'It can no longer be joined.');
  const own = formatStart(row, row.customer_timezone ?? row.timezone);
  const text = `It starts ${own}. The room opens 15 minutes before.`;
  return page(200, 'The room is not open yet.', text);
}
