import type { FastifyInstance, FastifyReply } from 'fastify';
import { formField } from '../../../http/forms.ts';
import { type Page, sendPage } from '../../../http/page.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import type { Limit } from '../../../http/route.ts';
import { bookingPath } from '../../../kernel/booking-path.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { notFound } from '../../../kernel/errors.ts';
import { truncate } from '../../../kernel/truncate.ts';
import type { ProductRow } from '../products/index.ts';
import * as views from './book.views.ts';
import { EMPTY_FORM, type FormState } from './fields.views.ts';
import { type FormRequest, withForms } from './form.pages.ts';
import { showMonth } from './month.ts';
import { formStateOf, parseOrder } from './order-form.ts';
import { timeInBothZones } from './picker.views.ts';
import type { BookingPagePorts, Creator } from './ports.ts';
import * as repository from './repository.ts';
import { instantOf, type PickerSelection, parseSelection, zoneOr } from './rules.ts';

type Params = { username: string; product: string };
/**
 * Limit of booking attempts per IP: each may hold a time for ten minutes, so a client must not block a whole
 * calendar.
 */
export const BOOKING_ATTEMPT_LIMIT: Limit = {
  bucket: 'book',
  per: 'ip',
  max: 20,
  windowSec: 600,
  refusal: 'RATE_LIMITED',
};
/** Limit of waitlist joins per IP: each one sends an email. */
const JOINS: Limit = { bucket: 'waitlist', per: 'ip', max: 10, windowSec: 900, refusal: 'RATE_LIMITED' };
const MAX_LISTED = 100;
const OTHERS = 40;

/**
 * `/book/:username` and `/book/:username/:product`, and the same with `/test` of the test mode
 * (docs/concepts/booking-pages.md#booking-page).
 */
export function bookPages(ports: BookingPagePorts): (app: FastifyInstance) => void {
  return withForms(ports.assets, (scope) => {
    for (const mode of ['live', 'test'] as const) {
      const base = `/book/:username${mode === 'test' ? '/test' : ''}`;
      mount(scope, ports, base, async ({ params }) => {
        const creator = await repository.findCreator(ports.db, params.username, mode);
        if (creator === undefined) throw notFound();
        return creator;
      });
    }
  });
}

function mount(
  app: FastifyInstance,
  ports: BookingPagePorts,
  base: string,
  creatorOf: (request: FormRequest<Params>) => Promise<Creator>,
): void {
  const offered = async (request: FormRequest<Params>) => {
    const creator = await creatorOf(request);
    return {
      creator,
      product: await ports.products.findPublished(creator.workspaceId, request.params.product),
    };
  };
  const send = (reply: FastifyReply, page: Page) => sendPage(reply, ports.assets, page);
  app.get(base, async (request: FormRequest<Params>, reply) => {
    const creator = await creatorOf(request);
    return send(reply, views.listPage(creator, await publishedBy(ports, creator), ports.publicUrl));
  });
  app.get(`${base}/:product`, async (request: FormRequest<Params>, reply) => {
    const { creator, product } = await offered(request);
    const choice = await choiceOf(ports, product, (name) => formField(request.query, name));
    return send(reply, await shown(ports, creator, product, { choice, form: EMPTY_FORM }));
  });
  app.post(`${base}/:product`, async (request: FormRequest<Params>, reply) => {
    await limitByIp(ports, BOOKING_ATTEMPT_LIMIT, request.ip);
    const { creator, product } = await offered(request);
    try {
      const [order, urls] = [parseOrder(product, request.body), addresses(ports, creator, product)];
      const countMail = ports.mailCaps.from({ ip: request.ip });
      return redirect(reply, await ports.order(creator, order, urls, { countMail }));
    } catch (error) {
      const form = formStateOf(request.body, error);
      const choice = await choiceOf(ports, product, (name) => formField(request.body, name));
      return send(reply, await shown(ports, creator, product, { choice, form }));
    }
  });
  app.post(`${base}/:product/waitlist`, async (request: FormRequest<Params>, reply) => {
    await limitByIp(ports, JOINS, request.ip);
    const { creator, product } = await offered(request);
    try {
      const how = { isTyped: true, countMail: ports.mailCaps.from({ ip: request.ip }) };
      await ports.waitlist.join(creator.workspaceId, product.id, entryOf(product, request.body), how);
      return send(reply, views.joinedPage(creator, product));
    } catch (error) {
      const form = formStateOf(request.body, error, 'waitlist');
      const choice = await choiceOf(ports, product, (name) => formField(request.body, name));
      return send(
        reply,
        await shown(ports, creator, product, { choice: { ...choice, wait: choice.wait ?? 'any' }, form }),
      );
    }
  });
  app.get(`${base}/:product/booked`, async (request: FormRequest<Params>, reply) => {
    const creator = await creatorOf(request);
    return send(reply, await bookedPage(ports, creator, formField(request.query, 'checkout_id')));
  });
}

function publishedBy({ products }: BookingPagePorts, { workspaceId }: Creator): Promise<ProductRow[]> {
  const page = {
    fetchLimit: MAX_LISTED,
    limit: MAX_LISTED,
    order: 'desc',
    after: null,
    createdAfter: null,
    createdBefore: null,
  } as const;
  return products.list(workspaceId, { statuses: ['PUBLISHED'], types: undefined }, page);
}

async function choiceOf(
  { availability, db }: BookingPagePorts,
  { workspace_id: workspaceId }: ProductRow,
  given: (name: string) => string,
): Promise<PickerSelection> {
  return parseSelection(given, (await availability.of(db, workspaceId)).timezone);
}

/** @returns where the buyer is redirected after the payment, and after canceling. */
export function addresses(
  { publicUrl }: Pick<BookingPagePorts, 'publicUrl'>,
  creator: Creator,
  product: ProductRow,
) {
  const page = `${publicUrl}${bookingPath(creator, product)}`;
  return { success: `${page}/booked`, cancel: page };
}

async function shown(
  ports: BookingPagePorts,
  creator: Creator,
  product: ProductRow,
  { choice, form }: { choice: PickerSelection; form: FormState },
): Promise<Page> {
  const { timezone: creatorZone } = await ports.availability.of(ports.db, product.workspace_id);
  const about = { creator, product, creatorZone, choice, form, publicUrl: ports.publicUrl };
  if (product.type === 'COHORT') {
    const cohorts = await ports.openCohorts(product);
    return views.productPage({ ...about, cohorts, month: null, chosen: null, others: [], fullClasses: [] });
  }
  const { month, times } = await showMonth(ports, product, choice);
  const at = choice.startsAt?.getTime();
  const isGone = form.problem?.input === 'start';
  return views.productPage({
    ...about,
    cohorts: [],
    month,
    chosen: (!isGone && times.find(({ startsAt }) => startsAt.getTime() === at)) || null,
    others: times.filter(({ startsAt }) => startsAt.getTime() !== at).slice(0, OTHERS),
    fullClasses:
      product.type === 'LIVE_CLASS' ? await repository.fullClasses(ports.db, product.id, soon(ports)) : [],
  });
}

const FULL_DAYS = 31;

function soon({ clock }: BookingPagePorts): { from: Date; to: Date } {
  const from = clock.now();
  return { from, to: dateFromMs(from.getTime() + FULL_DAYS * DAY_MS) };
}

/** Converts the waitlist form to the input of `Waitlist.join`. */
function entryOf({ type }: ProductRow, body: unknown) {
  const [wait, name] = [formField(body, 'wait'), formField(body, 'name')];
  const who = { email: formField(body, 'email'), name: name.trim() === '' ? null : truncate(name, 200) };
  if (wait === '' || wait === 'any') return who;
  if (type === 'COHORT') return { ...who, cohortId: wait };
  const startsAt = instantOf(wait);
  if (startsAt === null) throw notFound();
  return { ...who, startsAt: startsAt.toISOString() };
}

/**
 * Renders the booking of a checkout. The checkout ID in the URL suffices: the checkout page shows the same
 * data.
 */
async function bookedPage(ports: BookingPagePorts, creator: Creator, checkoutId: string): Promise<Page> {
  const bookingId = await ports.bookingOfCheckout(checkoutId);
  if (bookingId === null) throw notFound();
  const booking = await ports.bookings.byId(bookingId);
  if (booking.workspace_id !== creator.workspaceId) throw notFound();
  const product = await ports.products.get(creator.workspaceId, booking.product_id);
  const { starts_at: startsAt, ends_at: endsAt, timezone: zone } = booking;
  const own = zoneOr(booking.customer_timezone ?? '', zone);
  const when =
    startsAt === null || endsAt === null
      ? null
      : timeInBothZones({ startsAt, endsAt }, own, { name: creator.name, zone });
  return views.bookedPage(creator, product, when);
}

/** Redirects with 303, so that the browser fetches the next page with GET. */
export function redirect(reply: FastifyReply, url: string): FastifyReply {
  return reply.header('Cache-Control', 'no-store').redirect(url, 303);
}
