import type { FastifyInstance, FastifyReply } from 'fastify';
import { formField } from '../../../http/forms.ts';
import { type Page, sendPage } from '../../../http/page.ts';
import { limitByActor } from '../../../http/plugins/limits.ts';
import type { Limit } from '../../../http/route.ts';
import { HOUR_SEC } from '../../../kernel/durations.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { truncate } from '../../../kernel/truncate.ts';
import type { BookingDetails, BookingRow } from '../bookings/index.ts';
import { redirect } from './book.pages.ts';
import { type FormRequest, withForms } from './form.pages.ts';
import { createLinkCookie, type LinkCookie } from './link-cookie.ts';
import * as views from './manage.views.ts';
import { showMonth } from './month.ts';
import type { BookingPagePorts } from './ports.ts';
import * as repository from './repository.ts';
import { instantOf, parseSelection, zoneOr } from './rules.ts';

/** Limit of moves per booking: each one notifies the creator and emails the customer. */
const MOVES: Limit = {
  bucket: 'book-moves',
  per: 'key',
  max: 20,
  windowSec: HOUR_SEC,
  refusal: 'RATE_LIMITED',
};

const DONE: ReadonlyMap<string, string> = new Map([
  ['canceled', 'Booking canceled.'],
  ['moved', 'Booking rescheduled. A new confirmation is on its way.'],
]);

/**
 * `/bookings/:id`, where a customer cancels or moves a booking, by the link in the mail, which is exchanged for a cookie
 * (docs/concepts/booking-pages.md#customer-page). A GET changes nothing.
 */
export function managePages(ports: BookingPagePorts): (app: FastifyInstance) => void {
  const pass = createLinkCookie(ports, 'bookings');
  return withForms(ports.assets, (scope) => {
    scope.get('/bookings/:id', (request: FormRequest, reply) => open(ports, pass, request, reply));
    scope.get('/bookings/:id/calendar.ics', async (request: FormRequest, reply) => {
      const file = await ports.calendar.file(ports.db, await admitted(ports, pass, request));
      if (file === null) throw notFound();
      return reply.header('Cache-Control', 'no-store').type('text/calendar; charset=utf-8').send(file);
    });
    scope.get('/bookings/:id/move', async (request: FormRequest, reply) => {
      const booking = await admitted(ports, pass, request);
      return send(ports, reply, await movePage(ports, pass, request, { booking, problem: null }));
    });
    scope.post('/bookings/:id/move', (request: FormRequest, reply) => move(ports, pass, request, reply));
    scope.post('/bookings/:id/cancel', (request: FormRequest, reply) => cancel(ports, pass, request, reply));
  });
}

/** Error code when the cookie is missing. */
const CLOSED = 'UNAUTHORIZED';

const send = ({ assets }: BookingPagePorts, reply: FastifyReply, page: Page) => sendPage(reply, assets, page);

async function open(ports: BookingPagePorts, pass: LinkCookie, request: FormRequest, reply: FastifyReply) {
  const { id } = request.params;
  if (ports.links.isManaged(id, formField(request.query, 'token'))) {
    reply.header('Set-Cookie', pass.grant(id));
    return redirect(reply, views.pathOf(id));
  }
  if (!pass.isGood(request.headers.cookie, id)) return send(ports, reply, views.closedPage());
  const text = DONE.get(formField(request.query, 'done'));
  const news = text === undefined ? null : { text, isProblem: false, status: 200 };
  return send(ports, reply, await managePage(ports, pass, await ports.bookings.byId(id), news));
}

/** @throws {AppError} UNAUTHORIZED. */
async function admitted(
  ports: BookingPagePorts,
  pass: LinkCookie,
  { params, headers }: FormRequest,
): Promise<BookingDetails> {
  if (pass.isGood(headers.cookie, params.id)) return ports.bookings.byId(params.id);
  throw new AppError(CLOSED, { message: 'Open the link in your email again and retry.' });
}

/** @throws {AppError} as `admitted`; CSRF_REJECTED for the form of another page. */
async function sender(
  ports: BookingPagePorts,
  pass: LinkCookie,
  request: FormRequest,
): Promise<BookingDetails> {
  const booking = await admitted(ports, pass, request);
  if (pass.isOwnForm(booking.id, formField(request.body, 'formToken'))) return booking;
  throw new AppError('CSRF_REJECTED', { message: 'Open the link in your email again and retry.' });
}

async function about<T extends BookingRow>(ports: BookingPagePorts, booking: T) {
  const creator = await repository.creatorOf(ports.db, booking.workspace_id);
  const { title } = await ports.products.get(booking.workspace_id, booking.product_id);
  const { timezone } = await ports.availability.of(ports.db, booking.workspace_id);
  return { booking, creator, title, creatorZone: timezone };
}

async function managePage(
  ports: BookingPagePorts,
  pass: LinkCookie,
  booking: BookingDetails,
  news: views.BookingView['news'],
): Promise<Page> {
  const now = ports.clock.now();
  return views.managePage({
    ...(await about(ports, booking)),
    zone: zoneOr(booking.customer_timezone ?? '', booking.timezone),
    formToken: pass.formToken(booking.id),
    refundUntil: booking.amount_cents === 0 ? null : ports.refundableUntil(booking),
    hasBegun: booking.begins_at <= now,
    joinUrl: ports.links.joinUrl(booking),
    hasCalendar: (await ports.calendar.file(ports.db, booking)) !== null,
    now,
    news,
  });
}

async function cancel(ports: BookingPagePorts, pass: LinkCookie, request: FormRequest, reply: FastifyReply) {
  const booking = await sender(ports, pass, request);
  const reason = truncate(formField(request.body, 'reason').trim(), 500);
  try {
    await ports.bookings.cancel(booking.workspace_id, booking.id, {
      by: 'CUSTOMER',
      reason: reason === '' ? null : reason,
    });
    return redirect(reply, `${views.pathOf(booking.id)}?done=canceled`);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const news = { text: error.message, isProblem: true, status: error.status };
    return send(ports, reply, await managePage(ports, pass, booking, news));
  }
}

async function move(ports: BookingPagePorts, pass: LinkCookie, request: FormRequest, reply: FastifyReply) {
  const booking = await sender(ports, pass, request);
  try {
    const startsAt = instantOf(formField(request.body, 'start'));
    if (startsAt === null) throw badRequest('start', 'Choose a time.');
    await limitByActor(ports, MOVES, booking.id);
    await ports.bookings.reschedule(booking.workspace_id, booking.id, startsAt);
    return redirect(reply, `${views.pathOf(booking.id)}?done=moved`);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const problem = { text: error.message, status: error.status };
    return send(ports, reply, await movePage(ports, pass, request, { booking, problem }));
  }
}

async function movePage(
  ports: BookingPagePorts,
  pass: LinkCookie,
  { query, body, method }: FormRequest,
  { booking, problem }: { booking: BookingRow; problem: views.MoveView['problem'] },
): Promise<Page> {
  const given = method === 'POST' ? body : query;
  const own = zoneOr(booking.customer_timezone ?? '', booking.timezone);
  const choice = parseSelection((name) => formField(given, name), own);
  const product = { id: booking.product_id, workspace_id: booking.workspace_id };
  const { month, times } = await showMonth(ports, product, choice);
  const at = choice.startsAt?.getTime();
  return views.movePage({
    ...(await about(ports, booking)),
    choice,
    month,
    chosen: (problem === null && times.find(({ startsAt }) => startsAt.getTime() === at)) || null,
    formToken: pass.formToken(booking.id),
    problem,
  });
}
