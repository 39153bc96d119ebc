import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { addSums, type Counted } from '../../../../test/harness/analytics.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { dateFromMs } from '../../../kernel/clock.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const clock = new TestClock(NOW);
let app: TestApp;
let account: TestAccount;
let key: string;
let video: string;
let stream: string;

before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());
beforeEach(async () => {
  clock.set(NOW);
  account = await app.createAccount();
  ({ key } = await app.createKey({ account }));
  video = await insertReadyVideo(app.container.db, account.live, { title: 'Bridges' });
  const body = { title: 'Evening' };
  stream = (await app.request('POST', '/streams', { key, body })).assertOk(201).string('data.id');
});

const get = (path: string) => app.request('GET', path, { key });
const read = async (path: string) => (await get(path)).assertOk(200);
const add = (...counted: Counted[]) => addSums(app.container.db, account.live, counted);
const ofVideo = () => ({ kind: 'VIDEO', id: video }) as const;
const ofStream = () => ({ kind: 'STREAM', id: stream }) as const;
const csv = (path: string) => app.request('GET', path, { key, headers: { accept: 'text/csv' } });

const RANGE = 'from=2026-11-18&to=2026-11-20';

describe('account analytics', () => {
  test('a range is summed day by day without gaps, with the top content', async () => {
    await add(
      {
        at: '2026-11-18T10:07:00Z',
        subject: ofVideo(),
        sums: { views: 2, unique_viewers: 1, watch_ms: 90_000 },
        shares: { country: 'DE' },
      },
      { at: '2026-11-18T11:00:00Z', sums: { new_followers: 3, lost_followers: 1 } },
      {
        at: '2026-11-19T23:59:00Z',
        subject: ofStream(),
        sums: { views: 1, unique_viewers: 1, broadcasts: 1, live_ms: 1_800_000, peak_viewers: 7 },
      },
      { at: '2026-11-17T23:59:00Z', subject: ofVideo(), sums: { views: 5 } },
      { at: '2026-11-20T00:00:00Z', subject: ofVideo(), sums: { views: 100 } },
    );
    const nobody = { country: [], device: [], browser: [], os: [], referrer: [] };
    const answer = await read(`/analytics/account?${RANGE}&compare=PREVIOUS`);
    assert.deepEqual(answer.at('data'), {
      from: '2026-11-18T00:00:00.000Z',
      to: '2026-11-20T00:00:00.000Z',
      timezone: 'UTC',
      granularity: 'DAY',
      generatedAt: NOW,
      dataFreshUntil: null,
      totals: {
        views: 3,
        uniqueViewers: 2,
        watchTimeSec: 90,
        avgViewDurationSec: 30,
        newFollowers: 3,
        lostFollowers: 1,
        liveBroadcasts: 1,
        liveMinutes: 30,
        peakConcurrent: 7,
      },
      previous: {
        views: 5,
        uniqueViewers: 0,
        watchTimeSec: 0,
        avgViewDurationSec: 0,
        newFollowers: 0,
        lostFollowers: 0,
        liveBroadcasts: 0,
        liveMinutes: 0,
        peakConcurrent: 0,
      },
      series: [
        { date: '2026-11-18', views: 2, uniqueViewers: 1, watchTimeSec: 90, newFollowers: 3, liveMinutes: 0 },
        { date: '2026-11-19', views: 1, uniqueViewers: 1, watchTimeSec: 0, newFollowers: 0, liveMinutes: 30 },
      ],
      topVideos: [{ videoId: video, title: 'Bridges', views: 2, watchTimeSec: 90 }],
      topStreams: [{ streamId: stream, title: 'Evening', views: 1, watchTimeSec: 0 }],
      breakdown: { ...nobody, country: [{ key: 'DE', label: 'Germany', views: 2, watchTimeSec: 90 }] },
      sources: [],
    });
    const same = await read(`/account/analytics?${RANGE}&compare=PREVIOUS`);
    assert.deepEqual(same.at('data'), answer.at('data'));
    const lines = (await csv(`/analytics/account?${RANGE}`)).text.split('\r\n');
    assert.deepEqual(lines, [
      'date,views,uniqueViewers,watchTimeSec,newFollowers,liveMinutes',
      '2026-11-18,2,1,90,3,0',
      '2026-11-19,1,1,0,0,30',
      '',
    ]);
  });

  test('own sessions count on request, and other workspaces never', async () => {
    const { key: testKey } = await app.createKey({ account, mode: 'test' });
    await add(
      { at: '2026-11-18T10:00:00Z', subject: ofVideo(), sums: { views: 2 } },
      { at: '2026-11-18T10:00:00Z', subject: ofVideo(), isSelf: true, sums: { views: 5 } },
    );
    const views = async (query: string) =>
      (await read(`/analytics/account?${query}`)).at('data.totals.views');
    assert.equal(await views(RANGE), 2);
    assert.equal(await views(`${RANGE}&includeSelf=true`), 7);
    const other = await app.request('GET', `/analytics/account?${RANGE}`, { key: testKey });
    assert.equal(other.assertOk(200).at('data.totals.views'), 0);
    (await app.request('GET', `/analytics/videos/${video}`, { key: testKey })).assertError('NOT_FOUND');
  });

  test('a filter counts the viewers with one property; unknown values for those viewers are null', async () => {
    const at = '2026-11-18T10:00:00Z';
    const shares = { country: 'DE', device: 'MOBILE' };
    await add(
      { at, subject: ofVideo(), sums: { views: 4, watch_ms: 8000, impressions: 9 }, shares },
      { at, subject: ofVideo(), sums: { views: 1 }, shares: { country: 'FR' } },
    );
    const german = await read(`/analytics/account?${RANGE}&filter.country=de`);
    const { views, watchTimeSec, newFollowers } = Object(german.at('data.totals'));
    assert.deepEqual([views, watchTimeSec, newFollowers], [4, 8, null]);
    assert.deepEqual(Object(german.at('data.topVideos.0')).views, 4);
    const rows = await read(`/analytics/videos?${RANGE}&filter.device=MOBILE`);
    assert.deepEqual([rows.at('data.rows.0.views'), rows.at('data.rows.0.impressions')], [4, null]);
    const two = await get(`/analytics/videos?${RANGE}&filter.device=MOBILE&filter.country=DE`);
    two.assertError('BAD_REQUEST', 'filter.device');
    (await get(`/analytics/geography?${RANGE}&filter.os=iOS`)).assertError('BAD_REQUEST', 'filter.os');
  });
});

describe('ranges', () => {
  const dates = (answer: { list(path: string): unknown[] }) =>
    answer.list('data.series').map((piece) => Object(piece).date);

  test('days and hours follow the zone: days of 23 and 25 hours, hours that begin at half past', async () => {
    const hours = async (zone: string, from: string, to: string) =>
      dates(await read(`/analytics/account?from=${from}&to=${to}&timezone=${zone}&granularity=HOUR`));
    assert.equal((await hours('Europe/Berlin', '2026-03-29', '2026-03-30')).length, 23);
    const autumn = await hours('Europe/Berlin', '2026-10-25', '2026-10-26');
    assert.equal(autumn.length, 25);
    assert.deepEqual(autumn.slice(2, 4), ['2026-10-25T02:00:00+02:00', '2026-10-25T02:00:00+01:00']);
    assert.equal((await hours('Australia/Lord_Howe', '2026-04-05', '2026-04-06')).length, 24);
    await add(
      { at: '2026-11-18T18:29:00Z', sums: { views: 1 } },
      { at: '2026-11-18T18:30:00Z', sums: { views: 10 } },
      { at: '2026-11-18T19:29:00Z', sums: { views: 100 } },
    );
    const kolkata = await read(
      '/analytics/account?from=2026-11-19&to=2026-11-20&timezone=Asia/Kolkata&granularity=HOUR',
    );
    assert.deepEqual(Object(kolkata.at('data.series.0')).views, 110);
    assert.equal(Object(kolkata.at('data.series.0')).date, '2026-11-19T00:00:00+05:30');
    const days = await read('/analytics/account?from=2026-11-18&to=2026-11-20&timezone=Asia/Kolkata');
    assert.deepEqual(
      days.list('data.series').map((piece) => Object(piece).views),
      [1, 110],
    );
  });

  test('the previous period has as many local days, with any change of the clocks', async () => {
    await add(
      { at: '2026-10-25T22:59:00Z', sums: { views: 1000 } },
      { at: '2026-10-24T22:00:00Z', sums: { views: 1 } },
      { at: '2026-10-24T21:59:00Z', sums: { views: 100 } },
    );
    const previous = async (query: string) =>
      (await read(`/analytics/account?${query}&compare=PREVIOUS`)).at('data.previous.views');
    assert.equal(await previous('from=2026-10-26&to=2026-10-27&timezone=Europe/Berlin'), 1001);
    const instants = 'from=2026-10-26T00:00:00%2B01:00&to=2026-10-27T00:15:00%2B01:00&timezone=Europe/Berlin';
    assert.equal(await previous(instants), 1000);
    assert.equal(await previous('from=2026-10-26T00:00:00Z&to=2026-10-26T00:30:00Z'), 0);
  });

  test('an invalid range names its field', async () => {
    for (const [query, field] of [
      ['from=2026-11-20&to=2026-11-20', 'to'],
      ['from=2025-10-15&to=2026-11-20', 'from'],
      ['from=yesterday', 'from'],
      ['to=2026-02-30', 'to'],
      ['timezone=Mars/Olympus', 'timezone'],
      ['granularity=MINUTE', 'granularity'],
      ['granularity=HOUR&from=2026-11-01&to=2026-11-16', 'granularity'],
      ['compare=NEXT', 'compare'],
      ['includeSelf=perhaps', 'includeSelf'],
    ]) {
      (await get(`/analytics/account?${query}`)).assertError('BAD_REQUEST', field);
    }
    await read('/analytics/account?granularity=HOUR&from=2026-11-01&to=2026-11-15');
    (await get('/analytics/videos?sort=title')).assertError('BAD_REQUEST', 'sort');
    (await get('/analytics/videos?limit=101')).assertError('BAD_REQUEST', 'limit');
    (await get('/analytics/videos?cursor=nonsense')).assertError('BAD_REQUEST', 'cursor');
    (await get(`/analytics/geography?videoId=${video}&streamId=${stream}`)).assertError(
      'BAD_REQUEST',
      'streamId',
    );
    (await get('/analytics/geography?videoId=vid_nobody')).assertError('NOT_FOUND');
  });

  test('totals equal the sum of their series, in any zone, for any range and granularity', async () => {
    const random = generator(17);
    const start = Date.parse('2026-10-01T00:00:00Z');
    await add(
      ...Array.from({ length: 400 }, () => ({
        at: dateFromMs(start + Math.floor(random() * 40 * 24 * 60) * 60_000),
        sums: { views: 1 + Math.floor(random() * 9), watch_ms: 1000 },
      })),
    );
    const zones = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Apia'];
    for (let round = 0; round < 25; round++) {
      const from = start + Math.floor(random() * 30 * 96) * 900_000;
      const days = random() < 0.5 ? 13 : 35;
      const to = from + Math.ceil(random() * days * 96) * 900_000;
      const piece = days === 13 ? 'HOUR' : ['DAY', 'WEEK', 'MONTH'][Math.floor(random() * 3)];
      const zone = zones[Math.floor(random() * zones.length)];
      const [a, b] = [from, to].map((ms) => dateFromMs(ms).toISOString());
      const query = `from=${a}&to=${b}&timezone=${zone}&granularity=${piece}`;
      const answer = await read(`/analytics/account?${query}&compare=PREVIOUS`);
      const sum = answer.list('data.series').reduce<number>((all, one) => all + Object(one).views, 0);
      assert.equal(answer.at('data.totals.views'), sum, query);
      const span = [from * 2 - to, from].map((ms) => dateFromMs(ms).toISOString());
      const before = await read(`/analytics/account?from=${span[0]}&to=${span[1]}`);
      const isDays = [answer.string('data.from'), answer.string('data.to')].every((at) =>
        isMidnight(at, zone),
      );
      if (!isDays) assert.equal(answer.at('data.previous.views'), before.at('data.totals.views'), query);
    }
  });
});

function isMidnight(at: string, zone = 'UTC'): boolean {
  const moment = Temporal.Instant.from(at).toZonedDateTimeISO(zone);
  return moment.startOfDay().equals(moment);
}

/** Returns a deterministic generator of numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
