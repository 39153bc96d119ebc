import type { Clock } from '../../src/kernel/clock.ts';
import { HOUR_MS } from '../../src/kernel/durations.ts';
import type { TestApp } from '../harness/app.ts';
import { runTask } from '../harness/modules.ts';
import { ADDRESSES, checkoutClient, headers, type Shop } from '../money/shop.ts';

const ALL_DAY = [{ start: '00:00', end: '24:00' }];

/** Returns a function that gives the whole hour `count` hours after the current one. */
export function hoursOf(clock: Clock): (count: number) => string {
  return (count) => {
    const now = clock.ms();
    return new Date(now - (now % HOUR_MS) + count * HOUR_MS).toISOString();
  };
}

/** Returns actions of creators and their customers on bookings in test mode. */
export function bookingClient(appOf: () => TestApp) {
  const shopping = checkoutClient(appOf);

  /** Creates a creator who is available at every hour, in UTC. */
  async function creator(): Promise<Shop> {
    const of = await shopping.shop();
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
    const body = {
      weeklyJson: Object.fromEntries(days.map((day) => [day, ALL_DAY])),
      timezone: 'UTC',
      minNoticeMin: 0,
      maxAdvanceDays: 60,
    };
    (await appOf().request('PUT', '/booking/availability', { key: of.key, body })).assertOk(200);
    return of;
  }

  /** A product that is published. */
  async function product({ key }: Shop, settings: object = {}): Promise<string> {
    const body = { title: 'A lesson', type: 'ONE_TO_ONE', priceCents: 5000, ...settings };
    const made = (await appOf().request('POST', '/booking/products', { key, body })).assertOk(201);
    const id = made.string('data.id');
    (await appOf().request('POST', `/booking/products/${id}/publish`, { key })).assertOk(200);
    return id;
  }

  /** A cohort of a product that is published. */
  async function cohort(of: Shop, settings: object = {}, price: object = {}) {
    const { key } = of;
    const body = { title: 'A course', type: 'COHORT', priceCents: 5000, ...price };
    const made = (await appOf().request('POST', '/booking/products', { key, body })).assertOk(201);
    const productId = made.string('data.id');
    const path = `/booking/products/${productId}`;
    const begun = (await appOf().request('POST', `${path}/cohorts`, { key, body: settings })).assertOk(201);
    (await appOf().request('POST', `${path}/publish`, { key })).assertOk(200);
    return { productId, cohortId: begun.string('data.id') };
  }

  const customerOf = (name: string) => ({
    name,
    email: `${name.toLowerCase()}@example.com`,
    timezone: 'Europe/Berlin',
  });

  /** POST /checkout/booking. */
  const ask = ({ key }: Shop, body: object, name = 'Ann') =>
    appOf().request('POST', '/checkout/booking', {
      key,
      headers,
      body: { ...ADDRESSES, customer: customerOf(name), ...body },
    });

  async function open(of: Shop, body: object, name = 'Ann') {
    const made = (await ask(of, body, name)).assertOk(201);
    return { id: made.string('data.id'), bookingId: made.string('data.bookingId') };
  }

  const booking = async ({ key }: Shop, id: string) =>
    (await appOf().request('GET', `/booking/bookings/${id}`, { key })).assertOk(200);

  /** Paid and confirmed. */
  async function booked(of: Shop, body: object, name = 'Ann'): Promise<string> {
    const { id, bookingId } = await open(of, body, name);
    await shopping.pay(id);
    return bookingId;
  }

  const act = ({ key }: Shop, id: string, action: string, body: object = {}) =>
    appOf().request('POST', `/booking/bookings/${id}/${action}`, { key, body });

  /** Returns the calendar time that a booking occupies. */
  async function busyOf(bookingId: string) {
    const rows = await appOf().container.sql<{ starts_at: Date; busy_until: Date }[]>`
      select starts_at, busy_until from calendar_busy where booking_id = ${bookingId}`;
    return rows.map(({ starts_at: from, busy_until: to }) => [from.toISOString(), to.toISOString()]);
  }

  async function mails(kind: string) {
    const { container } = appOf();
    const known = await container.sql<{ id: string; recipient: string }[]>`
      select id, recipient from mail where kind = ${kind} order by id`;
    return Promise.all(known.map(async ({ id, recipient }) => ({ recipient, ...(await mailOf(id)) })));
  }
  const mailOf = (id: string) => appOf().container.mailbox.get(id);

  /** Returns the cookie of a browser that has followed the link to the member page. */
  async function memberCookie({ account }: Shop, email: string): Promise<string> {
    const { container, url } = appOf();
    const [owner] = await container.sql<{ username: string }[]>`
      select username from account where id = ${account.id}`;
    const path = `${url}/members/${owner?.username}/test`;
    const submit = (action: string, fields: Record<string, string>) =>
      fetch(`${path}/${action}`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
    await submit('link', { email });
    await runTask(container, 'member links');
    const known = await mails('member-link');
    const token = /token=([\w-]{43})/.exec(known.at(-1)?.text ?? '')?.[1] ?? '';
    const entered = await submit('enter', { token });
    return entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  }

  return {
    memberCookie,
    ...shopping,
    creator,
    product,
    cohort,
    ask,
    open,
    booking,
    booked,
    act,
    mails,
    busyOf,
  };
}
