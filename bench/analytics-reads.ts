import { startTestApp } from '../test/harness/app.ts';
import { insertReadyVideo } from '../test/harness/videos.ts';
import { median, report } from './support/report.ts';

/**
 * What reads of analytics cost as HTTP requests, one after the other: of a workspace with 10 million views against one
 * with 10 thousand, both over 400 days of the same 100 videos, from 200 countries and 50 referrers. The sums are put
 * into the tables as their writer leaves them, the rows that these reads pass: quarter-hours of 60 days (of the
 * account: of all days), and what is shared of one video.
 *
 * Arguments: views of the large workspace (10,000,000) and of the small one (10,000).
 */
const [LARGE, SMALL] = [Number(process.argv[2] ?? 10_000_000), Number(process.argv[3] ?? 10_000)];
const READS = 40;
const UNLIMITED = 2_000_000_000;
const DAYS = 400;
const QUARTER_DAYS = 60;

const app = await startTestApp();
const { sql, db } = app.container;

const BEGIN = `date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;
/** Moments of a span: its length and how many of them. */
const spans = (quarterDays: number) => [
  { minutes: 1440, count: DAYS },
  { minutes: 15, count: quarterDays * 96 },
];
/** How often of these views one is expected, a few much more often than most. */
const HARMONIC = (count: number) =>
  Array.from({ length: count }, (_, n) => 1 / (n + 1)).reduce((a, b) => a + b, 0);

interface Seed {
  workspaceId: string;
  views: number;
  subjects: { kind: string; ids: string[] };
  quarterDays: number;
}

/** A row is there with the probability that anything was counted. */
async function seedTotals({ workspaceId, views, subjects, quarterDays }: Seed): Promise<void> {
  for (const { minutes, count } of spans(quarterDays)) {
    const each = views / (DAYS * (1440 / minutes)) / HARMONIC(subjects.ids.length);
    await sql`insert into analytics_total (workspace_id, subject_kind, subject_id, span, at, is_self, views,
        unique_viewers, watch_ms, impressions, plays)
      select ${workspaceId}, ${subjects.kind}, id, ${minutes}::smallint,
        ${sql.unsafe(BEGIN)} + interval '1 day' - at * ${minutes}::integer * interval '1 minute', false,
        ceil(expected), ceil(expected * 0.8), ceil(expected * 60000), ceil(expected * 2), ceil(expected)
      from generate_series(1, ${count}::integer) at,
        unnest(${subjects.ids}::text[]) with ordinality subject (id, place),
        lateral (select ${each}::float8 / place as expected) mean
      where random() < 1 - exp(-least(expected, 50)) order by 5`;
  }
}

async function seedShares(
  { workspaceId, views, subjects, quarterDays }: Seed,
  dimension: string,
  values: readonly string[],
): Promise<void> {
  for (const { minutes, count } of spans(quarterDays)) {
    const each = views / (DAYS * (1440 / minutes)) / HARMONIC(values.length);
    await sql`insert into analytics_share (workspace_id, subject_kind, subject_id, dimension, value, span, at, is_self,
        views, unique_viewers, watch_ms)
      select ${workspaceId}, ${subjects.kind}, ${subjects.ids[0] ?? ''}, ${dimension}, value, ${minutes}::smallint,
        ${sql.unsafe(BEGIN)} + interval '1 day' - at * ${minutes}::integer * interval '1 minute', false,
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
  const account = { workspaceId, views, subjects: { kind: 'ACCOUNT', ids: [''] }, quarterDays: DAYS };
  const all = { workspaceId, views, subjects: { kind: 'VIDEO', ids }, quarterDays: QUARTER_DAYS };
  const first = { ...all, views: views / HARMONIC(100), subjects: { kind: 'VIDEO', ids: ids.slice(0, 1) } };
  await seedTotals(account);
  await seedTotals(all);
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const countries = letters.flatMap((a) => letters.map((b) => a + b)).slice(0, 200);
  const referrers = Array.from({ length: 50 }, (_, n) => `site-${n}.example.com`);
  const devices = ['MOBILE', 'DESKTOP', 'TABLET', 'TV', 'OTHER'];
  const shared = { country: countries, referrer: referrers, device: devices, os: devices, browser: devices };
  for (const [dimension, values] of Object.entries(shared)) {
    await seedShares({ ...account, quarterDays: QUARTER_DAYS }, dimension, values);
    await seedShares(first, dimension, values);
  }
  await sql`insert into analytics_retention (workspace_id, video_id, at, is_self, watched)
    select ${workspaceId}, ${ids[0] ?? ''}, at, false, array_fill(3, array[600])
    from analytics_total where workspace_id = ${workspaceId} and subject_id = ${ids[0] ?? ''} and span = 1440`;
  return ids[0] ?? '';
}

async function workspace(views: number) {
  const { account, key } = await app.createKey({ rateLimitPerMinute: UNLIMITED });
  return { key, video: await seed(account.live, views) };
}

const large = await workspace(LARGE);
const small = await workspace(SMALL);
await sql`vacuum analyze`;

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
}
await app.close();
