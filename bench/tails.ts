import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { headersOf, marquee, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { median, report } from './support/report.ts';

/**
 * Measures the effect of 400 idle tails of one account on another one: the p50 of its reads with them against
 * without, while it also writes, so that there are hints. The program runs in a separate process; rounds are
 * interleaved; the median counts.
 */
const KEYS = 16;
const TAILS_PER_KEY = 25;
const ROUNDS = 8;
const READS = 1500;
const READERS = 4;
/** Number of reads after which a reader writes once. */
const WRITE_EVERY = 25;
/** Pause that excludes opening and closing tails from the measurement. */
const SETTLE_MS = 2000;

const agent = new Agent({ connections: READERS });

type Headers = Record<string, string>;

async function createKeys(platform: RunningPlatform, email: string, count: number): Promise<Headers[]> {
  const account = `account create --email ${email} --password long-enough-a-password --plan VIP`;
  await marquee(platform, ...account.split(' '));
  const keys: Headers[] = [];
  while (keys.length < count) {
    const key = `key create --account ${email} --scope FULL_ACCESS --rate-limit 2000000000`;
    const made = await marquee(platform, ...key.split(' '));
    if (typeof made !== 'object' || made === null || !('key' in made)) throw new Error('no key was made');
    keys.push(headersOf(String(made.key)));
  }
  return keys;
}

async function call(url: string, headers: Headers, body?: string): Promise<unknown> {
  const method = body === undefined ? 'GET' : 'POST';
  const answer = await request(url, {
    dispatcher: agent,
    method,
    headers,
    ...(body !== undefined && { body }),
  });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(text);
  return JSON.parse(text);
}

/** @returns a function that closes them all. */
async function openTails({ api }: RunningPlatform, keys: readonly Headers[]): Promise<() => Promise<void>> {
  const dispatcher = new Agent({ bodyTimeout: 0 });
  const places = keys.flatMap((headers) => Array.from({ length: TAILS_PER_KEY }, () => headers));
  await Promise.all(
    places.map(async (headers) => {
      const { statusCode, body } = await request(`${api}/me/events/stream`, { dispatcher, headers });
      if (statusCode !== 200) throw new Error(await body.text());
      await new Promise((resolve) => body.once('data', resolve));
      body.on('error', () => {});
      body.resume();
    }),
  );
  return () => dispatcher.destroy();
}

/** @returns the p50 of the reads in milliseconds. */
async function readP50({ api }: RunningPlatform, headers: Headers, id: string): Promise<number> {
  const times: number[] = [];
  const reader = async () => {
    for (let n = 1; times.length < READS; n++) {
      const begun = performance.now();
      await call(`${api}/streams/${id}`, headers);
      times.push(performance.now() - begun);
      if (n % WRITE_EVERY === 0)
        await call(`${api}/streams`, headers, '{"title":"A stream of the benchmark"}');
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return median(times);
}

async function createStream({ api }: RunningPlatform, headers: Headers): Promise<string> {
  const made = await call(`${api}/streams`, headers, '{"title":"The stream that is read"}');
  if (typeof made === 'object' && made !== null && 'data' in made) {
    const { data } = made;
    if (typeof data === 'object' && data !== null && 'id' in data) return String(data.id);
  }
  throw new Error('no stream was made');
}

const platform = await startPlatform({ environment: { ROLES: 'api' } });
try {
  const tailKeys = await createKeys(platform, 'tails@example.com', KEYS);
  const [headers = {}] = await createKeys(platform, 'reads@example.com', 1);
  const id = await createStream(platform, headers);
  const ratios: number[] = [];
  const alone: number[] = [];
  // The first two rounds warm up.
  for (let round = -2; round < ROUNDS; round++) {
    const measure = async (withTails: boolean) => {
      const close = withTails ? await openTails(platform, tailKeys) : async () => {};
      await sleep(SETTLE_MS);
      const p50 = await readP50(platform, headers, id);
      await close();
      await sleep(SETTLE_MS);
      return p50;
    };
    // The order alternates, so that growth over time affects both sides.
    const first = await measure(round % 2 === 0);
    const second = await measure(round % 2 !== 0);
    const [beside, without] = round % 2 === 0 ? [first, second] : [second, first];
    if (round < 0) continue;
    ratios.push(beside / without);
    alone.push(without);
  }
  const name = `p50 of GET /streams/{id} beside ${KEYS * TAILS_PER_KEY} idle tails of another account`;
  report({ name, value: median(ratios), unit: 'of the p50 without them', target: '<= 1.1' });
  report({ name: 'p50 of GET /streams/{id}', value: median(alone), unit: 'ms', target: '<= 1000' });
} finally {
  await platform.stop();
  await agent.destroy();
}
