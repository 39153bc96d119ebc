import { HOUR_MS } from '../src/kernel/durations.ts';
import { AppError } from '../src/kernel/errors.ts';
import { bookingClient } from '../test/booking/booking-client.ts';
import { startTestApp, type TestApp } from '../test/harness/app.ts';
import { ADDRESSES, type Shop } from '../test/money/shop.ts';
import { median, report } from './support/report.ts';

/**
 * Measures bookings: of many slots and of one against plain posts, and whether any of many races for one slot
 * ends with two winners.
 *
 * Races call the service of the endpoint, a few of them concurrently, each for another creator: the cost of a
 * race is its transactions, and three customers collide in every way that more would.
 *
 * Arguments: races (10,000), and customers in each of them (3).
 */
const RACES = Number(process.argv[2] ?? 10_000);
const RACERS = Number(process.argv[3] ?? 3);
const LANES = 4;
/** Slots of one creator, one hour each. */
const TIMES = 1000;
const POSTS = 300;
const AT_ONCE = 16;
const BATCHES = 3;
const UNLIMITED = 2_000_000_000;

/** Measures posts per second with a fixed concurrency. */
async function rateOf(count: number, post: (n: number) => Promise<number>): Promise<number> {
  const begun = performance.now();
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const status = await post(next++);
      if (status !== 201 && status !== 409) throw new Error(`a post was answered with ${status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return (count * 1000) / (performance.now() - begun);
}

const nextHour = Math.ceil(Date.now() / HOUR_MS) + 2;
const hour = (count: number) => new Date((nextHour + count) * HOUR_MS).toISOString();

async function shopOf(app: TestApp): Promise<{ of: Shop; productId: string }> {
  const { creator, product } = bookingClient(() => app);
  const of = await creator();
  await app.container.sql`update api_key set rate_limit_per_minute = ${UNLIMITED}`;
  return { of, productId: await product(of, { priceCents: 0 }) };
}

async function rates(app: TestApp): Promise<void> {
  const { ask } = bookingClient(() => app);
  const { of, productId } = await shopOf(app);
  const plain = async () =>
    (await app.request('POST', '/rooms', { key: of.key, body: { name: 'A room' } })).status;
  const [many, one]: [number[], number[]] = [[], []];
  for (let batch = 0; batch < BATCHES; batch++) {
    const base = await rateOf(POSTS, plain);
    const offset = batch * POSTS;
    const book = async (n: number) =>
      (await ask(of, { productId, startsAt: hour(offset + n) }, `Buyer${offset + n}`)).status;
    many.push((await rateOf(POSTS, book)) / base);
    one.push((await rateOf(POSTS, () => book(0))) / base);
  }
  report({
    name: 'bookings of many times, against plain posts',
    value: median(many),
    unit: 'ratio',
    target: '>= 0.1',
  });
  report({
    name: 'bookings of one time, against plain posts',
    value: median(one),
    unit: 'ratio',
    target: '>= 0.2',
  });
}

type Caller = Parameters<TestApp['container']['checkouts']['createForBooking']>[0];
type Wanted = { productId: string; startsAt: string };

interface Tally {
  left: number;
  doubled: number;
  lost: number;
  refused: number;
}

/** Runs races one after another, for the offered slots of one creator, then of the next. */
async function lane(app: TestApp, tally: Tally): Promise<void> {
  while (tally.left > 0) {
    const { of, productId } = await shopOf(app);
    for (let n = 0; n < TIMES && tally.left > 0; n++) {
      tally.left -= 1;
      await race(
        app,
        tally,
        { workspaceId: of.account.test, mode: 'test' },
        { productId, startsAt: hour(n) },
      );
    }
  }
}

/** Calls the service concurrently, as `POST /checkout/booking` does after admitting its requests. */
async function race(app: TestApp, tally: Tally, caller: Caller, what: Wanted): Promise<void> {
  const answers = await Promise.allSettled(
    Array.from({ length: RACERS }, (_, n) =>
      app.container.checkouts.createForBooking(caller, {
        ...{ ...what, ...ADDRESSES },
        customer: { name: `Buyer${n}`, email: `buyer${n}@example.com` },
      }),
    ),
  );
  const won = answers.filter(({ status }) => status === 'fulfilled').length;
  if (won > 1) tally.doubled += 1;
  if (won < 1) tally.lost += 1;
  for (const answer of answers) {
    if (answer.status === 'fulfilled') continue;
    if (!(answer.reason instanceof AppError && answer.reason.code === 'CONFLICT')) throw answer.reason;
    tally.refused += 1;
  }
}

async function races(app: TestApp): Promise<void> {
  const tally = { left: RACES, doubled: 0, lost: 0, refused: 0 };
  await Promise.all(Array.from({ length: LANES }, () => lane(app, tally)));
  const many = await app.container.sql`select from booking where status = 'CONFIRMED'
    group by product_id, starts_at having count(*) > 1`;
  report({
    name: `races for one time, doubled, of ${RACES}`,
    value: tally.doubled + many.length,
    unit: 'count',
    target: '<= 0',
  });
  report({
    name: `races for one time that nobody won, of ${RACES}`,
    value: tally.lost,
    unit: 'count',
    target: '<= 0',
  });
}

const app = await startTestApp();
try {
  await rates(app);
  await races(app);
} finally {
  await app.close();
}
