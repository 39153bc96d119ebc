import type { FastifyInstance, FastifyReply } from 'fastify';
import { textOf } from '../../http/forms.ts';
import { type Page, sendPage } from '../../http/page.ts';
import { countAddress } from '../../http/plugins/limits.ts';
import { AppError, notFound } from '../../kernel/errors.ts';
import { inZone } from '../../kernel/local-time.ts';
import { addresses, ORDERS, redirect } from './book.pages.ts';
import { type Filled, NOTHING_TYPED } from './fields.views.ts';
import { type Asked, withForms } from './form.pages.ts';
import { closedPage } from './manage.views.ts';
import { filledBy, orderOf } from './orders.ts';
import { createPass, type Pass } from './pass.ts';
import type { BookingPagePorts } from './ports.ts';
import * as repository from './repository.ts';
import { readChoice } from './rules.ts';
import { waitingPage, waitingPath } from './waiting.views.ts';

/**
 * `/waitlist/:id`, where somebody confirms that they wait, takes the place that is kept for them, or leaves; by the link in the mail,
 * which is exchanged for a cookie (docs/concepts/booking-waitlist.md#email-link). A GET changes nothing.
 */
export function waitingPages(ports: BookingPagePorts): (app: FastifyInstance) => void {
  const pass = createPass(ports, 'waitlist');
  return withForms(ports.assets, (scope) => {
    scope.get('/waitlist/:id', async (request: Asked, reply) => {
      const { id } = request.params;
      if (ports.waitlist.isLink(id, textOf(request.query, 'key'))) {
        reply.header('Set-Cookie', pass.grant(id));
        return redirect(reply, waitingPath(id));
      }
      if (!pass.isGood(request.headers.cookie, id)) return sendPage(reply, ports.assets, closedPage());
      return sendPage(reply, ports.assets, await shown(ports, pass, request, NOTHING_TYPED));
    });
    for (const act of ['confirm', 'leave'] as const) {
      scope.post(`/waitlist/:id/${act}`, async (request: Asked, reply) => {
        const id = admitted(pass, request);
        if (!pass.isOwnForm(id, textOf(request.body, 'formToken'))) throw refused();
        await ports.waitlist[act](id);
        return redirect(reply, waitingPath(id));
      });
    }
    scope.post('/waitlist/:id/take', (request: Asked, reply) => take(ports, pass, request, reply));
  });
}

const refused = () =>
  new AppError('CSRF_REJECTED', { message: 'Open the link in your email again and retry.' });

/** @throws {AppError} CSRF_REJECTED without the pass. */
function admitted(pass: Pass, { params, headers }: Asked): string {
  if (!pass.isGood(headers.cookie, params.id)) throw refused();
  return params.id;
}

async function take(ports: BookingPagePorts, pass: Pass, request: Asked, reply: FastifyReply) {
  await countAddress(ports, ORDERS, request.ip);
  const { entry, place } = await ports.waitlist.byId(admitted(pass, request));
  const creator = await repository.creatorOf(ports.db, entry.workspace_id);
  if (creator.isSuspended) throw notFound();
  const product = await ports.products.get(entry.workspace_id, entry.product_id);
  const { startsAt, cohortId } = place;
  try {
    const asked = orderOf(product, request.body);
    const order = {
      ...asked,
      ...(startsAt !== null && { startsAt }),
      ...(cohortId !== null && { cohortId }),
      customer: { ...asked.customer, email: entry.email },
    };
    const how = { waitlistEntryId: entry.id };
    return redirect(reply, await ports.order(creator, order, addresses(ports, creator, product), how));
  } catch (error) {
    const filled = filledBy(request.body, error);
    // The place is not theirs to choose here.
    const problem = filled.problem?.input === 'start' ? { ...filled.problem, input: null } : filled.problem;
    return sendPage(reply, ports.assets, await shown(ports, pass, request, { ...filled, problem }));
  }
}

async function shown(ports: BookingPagePorts, pass: Pass, request: Asked, form: Filled): Promise<Page> {
  const { entry, place } = await ports.waitlist.byId(request.params.id);
  const creator = await repository.creatorOf(ports.db, entry.workspace_id);
  if (creator.isSuspended) throw notFound();
  const product = await ports.products.get(entry.workspace_id, entry.product_id);
  const { timezone } = await ports.availability.of(ports.db, entry.workspace_id);
  const choice = readChoice((name) => textOf(request.query, name), timezone);
  const typed = (name: string) =>
    form === NOTHING_TYPED && name === 'name' ? (entry.name ?? '') : form.typed(name);
  const cohort =
    place.cohortId === null
      ? undefined
      : (await ports.openCohorts(product)).find(({ id }) => id === place.cohortId);
  const begins = place.startsAt ?? cohort?.starts_at;
  return waitingPage({
    ...{ creator, product, entry, choice },
    place: begins === undefined ? null : `Starts ${inZone(begins, choice.zone)}.`,
    form: { ...form, typed },
    formToken: pass.formToken(entry.id),
  });
}
