import type { Sql } from 'postgres';
import { maintainPartitions } from '../src/events/partitions.ts';
import { startTestApp, type TestApp } from '../test/harness/app.ts';
import { blocksOf } from './support/blocks.ts';
import { CASES, type Case, DEEP_ROW, gathersMatches } from './support/growth-cases.ts';
import { ROWS, rowsOf } from './support/growth-lists.ts';
import { insertParents, insertRows, prepareRows } from './support/growth-rows.ts';
import { isQuick, median, report } from './support/report.ts';

/**
 * Verifies that lists do not slow down with the size of a workspace: each list under each filter, in a
 * workspace with very many rows against one with 1,000, as HTTP requests through the whole chain; and the
 * number of 8 kB blocks that the database reads for one, which is independent of the machine's load. The
 * requests alternate; the median counts. Lists that gather matches have one bound for all their requests
 * instead: 50 ms for 95 of 100.
 */
const [count, only = '/'] = process.argv.slice(2).filter((one) => !one.startsWith('--'));
const MANY = Number(count ?? 100_000);
const FEW = 1000;
const ROUNDS = isQuick ? 8 : 15;
const UNLIMITED = 2_000_000_000;
const DAYS = 30;

const app = await startTestApp({ env: { DATABASE_POOL: '2' } });
const { sql } = app.container;
try {
  await preparePartitions(sql);
  await prepareRows(sql);
  const large = await createWorkspace(app, 'a', MANY);
  const small = await createWorkspace(app, 'b', FEW);
  const cases = CASES.filter(({ name }) => name.startsWith(only));
  for (const path of new Set(ROWS.map(({ list }) => list))) {
    const ofPath = cases.filter(({ name }) => rowsOf(name)[0]?.list === path);
    const rows = ROWS.filter(({ list }) => ofPath.length > 0 && list === path);
    for (const some of rows) await insertRows(sql, some, [large, small]);
    const searches: number[] = [];
    for (const one of ofPath) searches.push(...(await measure(one, { large: large.key, small: small.key })));
    reportSearches(path, searches);
    // The calling keys are part of the table.
    const tables = rows.map(({ table }) => table).filter((table) => table !== 'api_key');
    if (tables.length > 0) await sql.unsafe(`truncate ${tables.join(', ')} cascade`);
  }
} finally {
  await app.close();
}

interface Both<T> {
  large: T;
  small: T;
}

/** Measures one list. @returns the milliseconds of its requests in the large workspace, if it gathers matches. */
async function measure(one: Case, keys: Both<string>): Promise<number[]> {
  const paths = await pathsOf(one, keys);
  const times: Both<number>[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    times.push({ small: await timed(paths.small, keys.small), large: await timed(paths.large, keys.large) });
  }
  const ms = { large: median(times.map((t) => t.large)), small: median(times.map((t) => t.small)) };
  const looked = {
    large: await blocksOf(sql, () => timed(paths.large, keys.large)),
    small: await blocksOf(sql, () => timed(paths.small, keys.small)),
  };
  const isSearch = gathersMatches(one.name);
  const target = isSearch ? '>= 0' : '<= 1.5';
  report({ name: `${one.name}, time`, value: ms.large / ms.small, unit: `x (${both(ms)} ms)`, target });
  const value = looked.large / Math.max(looked.small, 1);
  report({ name: `${one.name}, blocks`, value, unit: `x (${both(looked)})`, target });
  return isSearch ? times.map((t) => t.large) : [];
}

function reportSearches(path: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const value = sorted[Math.ceil(sorted.length * 0.95) - 1];
  if (value === undefined) return;
  report({ name: `${path} searches, 95th percentile`, value, unit: 'ms', target: '<= 50' });
  report({ name: `${path} searches, slowest`, value: sorted.at(-1) ?? value, unit: 'ms', target: '<= 5000' });
}

/**
 * Returns the paths of both workspaces. If the small one has less than a page, the large one gets the same
 * limit.
 */
async function pathsOf({ query, isDeep }: Case, keys: Both<string>): Promise<Both<string>> {
  const whole = { large: query('a'), small: query('b') };
  const from = isDeep === true ? await walk(keys.large, whole.large) : '';
  const rows = (await app.request('GET', whole.small, { key: keys.small })).assertOk(200).list('data').length;
  const shorter = (path: string) => (rows === 0 ? path : path.replace('limit=25', `limit=${rows}`));
  return { large: shorter(whole.large + from), small: shorter(whole.small) };
}

function both({ large, small }: Both<number>): string {
  return `${round(large)} to ${round(small)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

async function createWorkspace(app: TestApp, letter: string, count: number) {
  const { account, key } = await app.createKey({ rateLimitPerMinute: UNLIMITED });
  await insertParents(sql, { id: account.live, letter });
  return { id: account.live, letter, count, key };
}

async function timed(path: string, key: string): Promise<number> {
  const begun = performance.now();
  (await app.request('GET', path, { key })).assertOk(200);
  return performance.now() - begun;
}

/** Returns the cursor of the page that starts at row `DEEP_ROW`. */
async function walk(key: string, path: string): Promise<string> {
  let cursor = '';
  for (let row = 0; row < DEEP_ROW; row += 100) {
    const page = (
      await app.request('GET', `${path.replace('limit=25', 'limit=100')}${cursor}`, { key })
    ).assertOk(200);
    cursor = `&cursor=${page.string('pagination.nextCursor')}`;
  }
  return cursor;
}

/** Creates the partitions of past days, as a platform running at that time would have. */
async function preparePartitions(sql: Sql): Promise<void> {
  for (let day = DAYS; day >= 0; day -= 4) {
    const ms = Date.now() - day * 86_400_000;
    // Retention matches the longest table here, so that nothing is dropped.
    await maintainPartitions(sql, { ms: () => ms, now: () => new Date(ms) }, { ANALYTICS_RAW_DAYS: DAYS });
  }
}
