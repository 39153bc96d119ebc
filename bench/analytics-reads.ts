import { createRollups } from '../src/features/insight/analytics/rollups.service.ts';
import { startTestApp } from '../test/harness/app.ts';
import { insertReadyVideo } from '../test/harness/videos.ts';
import { blocksOf } from './support/blocks.ts';
import { median, report } from './support/report.ts';

/**
 * Measures analytics reads as sequential HTTP requests: of a workspace with 10 million views against one with
 * 10 thousand, both over 400 days of the same 100 videos, from 200 countries and 50 referrers; and the blocks
 * of 8 kB that the database reads for one, which are independent of the machine's load. Rollups of the last
 * weeks are inserted by the quarter-hour (those of the account: of all days), older ones by the day; the
 * worker compacts them. Shares are those of the account and of one video.
 *
 * Arguments: views of the large workspace (10,000,000) and of the small one (10,000).
 */
const DAY_MS = 86_400_000;
const [LARGE, SMALL] = [Number(process.argv[2] ?? 10_000_000), Number(process.argv[3] ?? 10_000)];
const READS = 40;
const UNLIMITED = 2_000_000_000;
const DAYS = 400;
/** First moment with quarter-hour rollups. */
const QUARTERS_FROM = (Math.floor(Date.now() / DAY_MS) - 29) * DAY_MS;

const app = await startTestApp();
const { sql, db } = app.container;

const FIRST = (Math.floor(Date.now() / DAY_MS) - (DAYS - 1)) * DAY_MS;
/** Days, and quarter-hours from then on until now. */
function spans(quartersFrom: number) {
  const quarters = Math.max(FIRST, quartersFrom);
  return [
    { minutes: 1440, from: new Date(FIRST), count: (quarters - FIRST) / DAY_MS },
    { minutes: 15, from: new Date(quarters), count: Math.floor((Date.now() - quarters) / 900_000) },
  ];
}
/**
 * Returns the harmonic number that normalizes the skewed distribution of views, in which a few are far above
 * average.
 */
const HARMONIC = (count: number) =>
  Array.from({ length: count }, (_, n) => 1 / (n + 1)).reduce((a, b) => a + b, 0);

interface Seed {
  workspaceId: string;
  views: number;
  subjects: { kind: string; ids: string[] };
  quartersFrom: number;
}

/** A row exists with the probability that a count is not zero. */
async function seedTotals({ workspaceId, views, subjects, quartersFrom }: Seed): Promise<void> {
  for (const { minutes, from, count } of spans(quartersFrom)) {
    const each = views / (DAYS * (1440 / minutes)) / HARMONIC(subjects.ids.length);
    await sql`insert into analytics_total (workspace_id, subject_kind, subject_id, interval_min, at, is_owner, views,
        unique_viewers, watch_ms, impressions, plays)
      select ${workspaceId}, ${subjects.kind}, id, ${minutes}::smallint,
        ${from.toISOString()}::timestamptz + (at - 1) * ${minutes}::integer * interval '1 minute', false,
        ceil(expected), ceil(expected * 0.8), ceil(expected * 60000), ceil(expected * 2), ceil(expected)
      from generate_series(1, ${count}::integer) at,
        unnest(${subjects.ids}::text[]) with ordinality subject (id, place),
        lateral (select ${each}::float8 / place as expected) mean
      where random() < 1 - exp(-least(expected, 50)) order by 5`;
  }
}

async function seedShares(
  { workspaceId, views, subjects, quartersFrom }: Seed,
  dimension: string,
  values: readonly string[],
): Promise<void> {
  for (const { minutes, from, count } of spans(quartersFrom)) {
    const each = views / (DAYS * (1440 / minutes)) / HARMONIC(values.length);
    await sql`insert into analytics_breakdown (workspace_id, subject_kind, subject_id, dimension, value, interval_min, at, is_owner,
        views, unique_viewers, watch_ms)
      select ${workspaceId}, ${subjects.kind}, ${subjects.ids[0] ?? ''}, ${dimension}, value, ${minutes}::smallint,
        ${from.toISOString()}::timestamptz + (at - 1) * ${minutes}::integer * interval '1 minute', false,
        ceil(expected), ceil(expected * 0.8), ceil(expected * 60000)
      from generate_series(1, ${count}::integer) at,
        unnest(${[...values]}::text[]) with ordinality share (value, place),
        lateral (select ${each}::float8 / place as expected) mean
      where random() < 1 - exp(-least(expected, 50)) order by 7`;
  }
}

async function seed(workspaceId: string, views: number): Promise<string> {
  const ids: string[] = [];
  for (let n = 0; n < 100; n++) ids.push(await insertReadyVideo(db, workspaceId, { title: `Video ${n}` }));
  const account = { workspaceId, views, subjects: { kind: 'ACCOUNT', ids: [''] }, quartersFrom: 0 };
  const all = { workspaceId, views, subjects: { kind: 'VIDEO', ids }, quartersFrom: QUARTERS_FROM };
  const first = { ...all, views: views / HARMONIC(100), subjects: { kind: 'VIDEO', ids: ids.slice(0, 1) } };
  await seedTotals(account);
  await seedTotals(all);
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const countries = letters.flatMap((a) => letters.map((b) => a + b)).slice(0, 200);
  const referrers = Array.from({ length: 50 }, (_, n) => `site-${n}.example.com`);
  const devices = ['MOBILE', 'DESKTOP', 'TABLET', 'TV', 'OTHER'];
  const shared = { country: countries, referrer: referrers, device: devices, os: devices, browser: devices };
  for (const [dimension, values] of Object.entries(shared)) {
    await seedShares({ ...account, quartersFrom: QUARTERS_FROM }, dimension, values);
    await seedShares(first, dimension, values);
  }
  await sql`insert into analytics_retention (workspace_id, video_id, interval_min, at, is_owner, watch_counts)
    select distinct on (day) ${workspaceId}, ${ids[0] ?? ''}, 1440, day, false, array_fill(3, array[600])
    from analytics_total, date_bin('1 day', at, 'epoch') day
    where workspace_id = ${workspaceId} and subject_id = ${ids[0] ?? ''}`;
  return ids[0] ?? '';
}

async function workspace(views: number) {
  const { account, key } = await app.createKey({ rateLimitPerMinute: UNLIMITED });
  return { key, video: await seed(account.live, views) };
}

const large = await workspace(LARGE);
const small = await workspace(SMALL);
await closeDays();
await sql`vacuum analyze`;

/** Runs the worker's compaction for all days. */
async function closeDays(): Promise<void> {
  const { db, clock, facts } = app.container;
  const from = new Date(FIRST).toISOString();
  await sql`insert into rollup_state (next_xid, fresh_until, compacted_until) values ('0', 'epoch', ${from})`;
  await createRollups({ db, clock, facts, rawDays: 90 }).run();
}

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
const spanOf = (days: number) => `from=${day(days - 1)}`;
const paths = (video: string): Record<string, string> =>
  Object.fromEntries(
    [28, DAYS].flatMap((days) => [
      [`account, ${days} UTC days`, `/analytics/account?compare=PREVIOUS&${spanOf(days)}`],
      [`account, ${days} days of Kolkata`, `/analytics/account?timezone=Asia/Kolkata&${spanOf(days)}`],
      [`100 videos, ${days} days`, `/analytics/videos?limit=100&${spanOf(days)}`],
      [`200 countries, ${days} days`, `/analytics/geography?limit=100&${spanOf(days)}`],
      [`one video, ${days} days`, `/analytics/videos/${video}?${spanOf(days)}`],
      [`stats, ${days} days`, `/analytics/stats?${spanOf(days)}`],
      [`cards, ${days} days`, `/analytics/summary?${spanOf(days)}`],
    ]),
  );

async function timed(path: string, key: string): Promise<number> {
  const begun = performance.now();
  (await app.request('GET', path, { key })).assertOk(200);
  return performance.now() - begun;
}

const ofSmall = paths(small.video);
for (const [name, path] of Object.entries(paths(large.video))) {
  const other = ofSmall[name] ?? '';
  const times: { large: number; small: number }[] = [];
  for (let n = 0; n < READS; n++) {
    times.push({ small: await timed(other, small.key), large: await timed(path, large.key) });
  }
  const [ofLarge, rest] = [median(times.map((one) => one.large)), median(times.map((one) => one.small))];
  report({ name: `${name}, of ${LARGE} views, p50`, value: ofLarge, unit: 'ms', target: '<= 100' });
  report({
    name: `${name}, of ${LARGE} views against ${SMALL}`,
    value: ofLarge / rest,
    unit: 'x',
    target: '<= 1.5',
  });
  const looked = {
    large: await blocksOf(sql, () => timed(path, large.key)),
    small: await blocksOf(sql, () => timed(other, small.key)),
  };
  report({ name: `${name}, of ${LARGE} views`, value: looked.large, unit: 'blocks', target: '<= 2000' });
  report({
    name: `${name}, blocks of ${LARGE} views against ${SMALL}`,
    value: looked.large / looked.small,
    unit: 'x',
    target: '<= 1.5',
  });
}
await app.close();
