import type { FastifyInstance, FastifyReply } from 'fastify';
import { formField } from '../../../http/forms.ts';
import { type Page, sendPage } from '../../../http/page.ts';
import { limitByIp } from '../../../http/plugins/limits.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { formatInZone } from '../../../kernel/format-time.ts';
import { addresses, BOOKING_ATTEMPT_LIMIT, redirect } from './book.pages.ts';
import { EMPTY_FORM, type FormState } from './fields.views.ts';
import { type FormRequest, withForms } from './form.pages.ts';
import { createLinkCookie, type LinkCookie } from './link-cookie.ts';
import { closedPage } from './manage.views.ts';
import { formStateOf, parseOrder } from './order-form.ts';
import type { BookingPagePorts } from './ports.ts';
import * as repository from './repository.ts';
import { parseSelection } from './rules.ts';
import { waitingPath, waitlistPage } from './waitlist.views.ts';

/**
 * Registers `/waitlist/:id`, on which a customer confirms a waitlist entry, accepts the spot held for it, or
 * leaves. The emailed link is exchanged for a cookie (docs/concepts/booking-waitlist.md#email-link). GET
 * requests change nothing.
 */
export function waitlistPages(ports: BookingPagePorts): (app: FastifyInstance) => void {
  const pass = createLinkCookie(ports, 'waitlist');
  return withForms(ports.assets, (scope) => {
    scope.get('/waitlist/:id', async (request: FormRequest, reply) => {
      const { id } = request.params;
      if (ports.waitlist.isLink(id, formField(request.query, 'key'))) {
        reply.header('Set-Cookie', pass.grant(id));
        return redirect(reply, waitingPath(id));
      }
      if (!pass.isGood(request.headers.cookie, id)) return sendPage(reply, ports.assets, closedPage());
      return sendPage(reply, ports.assets, await shown(ports, pass, request, EMPTY_FORM));
    });
    for (const act of ['confirm', 'leave'] as const) {
      scope.post(`/waitlist/:id/${act}`, async (request: FormRequest, reply) => {
        const id = admitted(pass, request);
        if (!pass.isOwnForm(id, formField(request.body, 'formToken'))) throw refused();
        await ports.waitlist[act](id);
        return redirect(reply, waitingPath(id));
      });
    }
    scope.post('/waitlist/:id/take', (request: FormRequest, reply) => take(ports, pass, request, reply));
  });
}

const refused = () =>
  new AppError('CSRF_REJECTED', { message: 'Open the link in your email again and retry.' });

/** @throws {AppError} CSRF_REJECTED without the cookie. */
function admitted(pass: LinkCookie, { params, headers }: FormRequest): string {
  if (!pass.isGood(headers.cookie, params.id)) throw refused();
  return params.id;
}

async function take(ports: BookingPagePorts, pass: LinkCookie, request: FormRequest, reply: FastifyReply) {
  await limitByIp(ports, BOOKING_ATTEMPT_LIMIT, request.ip);
  const { entry, place } = await ports.waitlist.byId(admitted(pass, request));
  const creator = await repository.creatorOf(ports.db, entry.workspace_id);
  if (creator.isSuspended) throw notFound();
  const product = await ports.products.get(entry.workspace_id, entry.product_id);
  const { startsAt, cohortId } = place;
  try {
    const asked = parseOrder(product, request.body);
    const order = {
      ...asked,
      ...(startsAt !== null && { startsAt }),
      ...(cohortId !== null && { cohortId }),
      customer: { ...asked.customer, email: entry.email },
    };
    const how = { waitlistEntryId: entry.id };
    return redirect(reply, await ports.order(creator, order, addresses(ports, creator, product), how));
  } catch (error) {
    const filled = formStateOf(request.body, error);
    // The spot cannot be chosen here.
    const problem = filled.problem?.input === 'start' ? { ...filled.problem, input: null } : filled.problem;
    return sendPage(reply, ports.assets, await shown(ports, pass, request, { ...filled, problem }));
  }
}

async function shown(
  ports: BookingPagePorts,
  pass: LinkCookie,
  request: FormRequest,
  form: FormState,
): Promise<Page> {
  const { entry, place } = await ports.waitlist.byId(request.params.id);
  const creator = await repository.creatorOf(ports.db, entry.workspace_id);
  if (creator.isSuspended) throw notFound();
  const product = await ports.products.get(entry.workspace_id, entry.product_id);
  const { timezone } = await ports.availability.of(ports.db, entry.workspace_id);
  const choice = parseSelection((name) => formField(request.query, name), timezone);
  const typed = (name: string) =>
    form === EMPTY_FORM && name === 'name' ? (entry.name ?? '') : form.typed(name);
  const cohort =
    place.cohortId === null
      ? undefined
      : (await ports.openCohorts(product)).find(({ id }) => id === place.cohortId);
  const begins = place.startsAt ?? cohort?.starts_at;
  return waitlistPage({
    ...{ creator, product, entry, choice },
    place: begins === undefined ? null : `Starts ${formatInZone(begins, choice.zone)}.`,
    form: { ...form, typed },
    formToken: pass.formToken(entry.id),
  });
}
