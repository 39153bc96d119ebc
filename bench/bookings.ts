import { HOUR_MS } from '../src/kernel/durations.ts';
import { desk } from '../test/booking/desk.ts';
import { startTestApp, type TestApp } from '../test/harness/app.ts';
import type { Shop } from '../test/money/shop.ts';
import { median, report } from './support/report.ts';

/**
 * What bookings cost: bookings of many times and of one against plain posts, and whether any of many races for one time
 * ends with two who have it.
 *
 * Arguments: races (10,000), each of ten customers for one time.
 */
const RACES = Number(process.argv[2] ?? 10_000);
const RACERS = 10;
const POSTS = 300;
const AT_ONCE = 16;
const BATCHES = 3;
const UNLIMITED = 2_000_000_000;

/** A second, of so many that are under way at once. */
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
  const { creator, product } = desk(() => app);
  const of = await creator();
  await app.container.sql`update api_key set rate_limit_per_minute = ${UNLIMITED}`;
  return { of, productId: await product(of, { priceCents: 0 }) };
}

async function rates(app: TestApp): Promise<void> {
  const { ask } = desk(() => app);
  const { of, productId } = await shopOf(app);
  const plain = async () =>
    (await app.request('POST', '/rooms', { key: of.key, body: { name: 'A room' } })).status;
  const [many, one]: [number[], number[]] = [[], []];
  for (let batch = 0; batch < BATCHES; batch++) {
    const base = await rateOf(POSTS, plain);
    const offset = batch * POSTS;
    const book = async (n: number) => (await ask(of, { productId, startsAt: hour(offset + n) })).status;
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

async function races(app: TestApp): Promise<void> {
  const { ask } = desk(() => app);
  let [doubled, lost] = [0, 0];
  for (let done = 0; done < RACES; ) {
    const { of, productId } = await shopOf(app);
    // As many times as one creator is offered; then another one.
    for (let n = 0; n < 1000 && done < RACES; n++, done++) {
      const startsAt = hour(n);
      const answers = await Promise.all(
        Array.from({ length: RACERS }, (_, index) => ask(of, { productId, startsAt }, `Buyer${index}`)),
      );
      const won = answers.filter(({ status }) => status === 201).length;
      if (won > 1) doubled += 1;
      if (won < 1) lost += 1;
    }
  }
  const many = await app.container.sql`select from booking where status = 'CONFIRMED'
    group by product_id, starts_at having count(*) > 1`;
  report({
    name: `races for one time, doubled, of ${RACES}`,
    value: doubled + many.length,
    unit: 'count',
    target: '<= 0',
  });
  report({
    name: `races for one time that nobody won, of ${RACES}`,
    value: lost,
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
