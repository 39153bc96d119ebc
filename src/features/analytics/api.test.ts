import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { addSums, type Counted } from '../../../test/harness/analytics.ts';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { TestClock } from '../../../test/harness/clock.ts';
import type { TestAccount } from '../../../test/harness/factories.ts';
import { insertReadyVideo } from '../../../test/harness/videos.ts';
import { creator } from '../../../test/money/subscriber.ts';
import { dateFromMs } from '../../kernel/clock.ts';

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

const date = (at: string) => dateFromMs(Date.parse(at));

const RANGE = 'from=2026-11-18&to=2026-11-20';

describe('of the account', () => {
  test('adds up a range, day by day without a gap, with what was watched most', async () => {
    await add(
      {
        at: '2026-11-18T10:07:00Z',
        subject: ofVideo(),
        sums: { views: 2, unique_viewers: 1, watch_ms: 90_000 },
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

  test('own sessions count where they are asked for, other workspaces never', async () => {
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

  test('a filter counts the viewers with one property; what is not known of those alone is null', async () => {
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

  test('days and hours are those of the zone: days of 23 and 25 hours, hours that begin at half past', async () => {
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

  test('the span before has as many local days, whatever the clocks did', async () => {
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

  test('what is no range is refused by its name', async () => {
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

  test('totals are the sum of their series, in any zone, for any range and piece', async () => {
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

/** Numbers from 0 to 1, the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

describe('lists', () => {
  test('are pages in the order asked for, and the table has all of them', async () => {
    const videos = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        insertReadyVideo(app.container.db, account.live, { title: n === 0 ? '=Sum(A1)' : `Video ${n}` }),
      ),
    );
    const at = '2026-11-18T10:00:00Z';
    await add(
      ...videos.map((id, n) => ({
        at,
        subject: { kind: 'VIDEO', id } as const,
        sums: { views: n < 3 ? 4 : 1, watch_ms: 30_000 * (n + 1), impressions: 8, plays: 2 },
      })),
    );
    const pages: unknown[] = [];
    let next = `/analytics/videos?${RANGE}&limit=2`;
    for (;;) {
      const page = await read(next);
      pages.push(...page.list('data.rows').map((row) => Object(row).videoId));
      if (page.at('pagination.hasMore') === false) break;
      next = `/analytics/videos?${RANGE}&limit=2&cursor=${page.string('pagination.nextCursor')}`;
      assert.match(String(page.headers.link), /rel="next"/);
    }
    const ofFour = videos.slice(0, 3).sort().reverse();
    const ofOne = videos.slice(3).sort().reverse();
    assert.deepEqual(pages, [...ofFour, ...ofOne]);
    const byTime = await read(`/analytics/videos?${RANGE}&sort=watchTimeSec`);
    const { publishedAt: _, ...first } = Object(byTime.at('data.rows.0'));
    assert.deepEqual(first, {
      videoId: videos[4],
      title: 'Video 4',
      deletedAt: null,
      views: 1,
      uniqueViewers: 0,
      watchTimeSec: 150,
      avgViewDurationSec: 150,
      avgPercentViewed: 250,
      impressions: 8,
      playRate: 0.25,
    });
    const changed = await get(next.replace('limit=2', 'sort=publishedAt'));
    changed.assertError('BAD_REQUEST', 'cursor');
    const table = await csv(`/analytics/videos?${RANGE}&limit=2`);
    assert.match(String(table.headers['content-type']), /^text\/csv/);
    assert.equal(table.text.trim().split('\r\n').length, 6);
    assert.match(table.text, /,'=Sum\(A1\),/);
  });

  test('a deleted video keeps its row and its page', async () => {
    await add({ at: '2026-11-18T10:00:00Z', subject: ofVideo(), sums: { views: 2 } });
    (await app.request('DELETE', `/videos/${video}`, { key })).assertOk(200);
    const row = Object((await read(`/analytics/videos?${RANGE}`)).at('data.rows.0'));
    assert.deepEqual([row.videoId, row.title, row.deletedAt], [video, 'Bridges', NOW]);
    const page = await read(`/analytics/videos/${video}?${RANGE}`);
    assert.deepEqual([page.at('data.totals.views'), page.at('data.deletedAt')], [2, NOW]);
  });

  test('countries have their names and shares, of everything or of one video', async () => {
    const at = '2026-11-18T10:00:00Z';
    await add(
      { at, subject: ofVideo(), sums: { views: 3, watch_ms: 60_000 }, shares: { country: 'DE' } },
      { at, subject: ofVideo(), sums: { views: 1 }, shares: { country: 'ZZ' } },
      { at, subject: ofStream(), sums: { views: 4 }, shares: { country: 'NP' } },
    );
    const answer = await read(`/analytics/geography?${RANGE}`);
    const germany = { countryCode: 'DE', country: 'Germany', views: 3, uniqueViewers: 0, watchTimeSec: 60 };
    const none = { uniqueViewers: 0, watchTimeSec: 0 };
    assert.deepEqual(answer.at('data.rows'), [
      { countryCode: 'NP', country: 'Nepal', views: 4, ...none, sharePercent: 50 },
      { ...germany, sharePercent: 37.5 },
      { countryCode: 'ZZ', country: 'Unknown', views: 1, ...none, sharePercent: 12.5 },
    ]);
    const second = await read(`/analytics/geography?${RANGE}&limit=1`);
    const rest = await read(
      `/analytics/geography?${RANGE}&limit=1&cursor=${second.string('pagination.nextCursor')}`,
    );
    assert.equal(rest.at('data.rows.0.sharePercent'), 37.5);
    const ofOne = await read(`/analytics/geography?${RANGE}&videoId=${video}`);
    assert.deepEqual(ofOne.at('data.rows.0'), { ...germany, sharePercent: 75 });
    const one = await read(`/analytics/geography?${RANGE}&filter.country=DE`);
    assert.equal(one.list('data.rows').length, 1);
  });
});

describe('of one video, and of one stream', () => {
  test('a video has what was watched of each second, and by whom', async () => {
    const at = '2026-11-18T10:00:00Z';
    const shares = {
      country: 'DE',
      device: 'MOBILE',
      browser: 'Firefox',
      os: 'iOS',
      referrer: '',
      source: 'DIRECT',
    };
    await add(
      { at, subject: ofVideo(), sums: { views: 4, watch_ms: 6000, impressions: 10, plays: 5 }, shares },
      { at, subject: ofVideo(), sums: { watch_ms: 6000 }, shares: { quality: '720' } },
    );
    const day = { workspace_id: account.live, video_id: video, is_self: false };
    await app.container.db
      .insertInto('analytics_retention')
      .values([
        { ...day, at: date('2026-11-18T00:00:00Z'), watched: [4, 2] },
        { ...day, at: date('2026-11-19T00:00:00Z'), watched: [1, 0, 1] },
        { ...day, at: date('2026-11-20T00:00:00Z'), watched: [9, 9, 9, 9] },
      ])
      .execute();
    const answer = await read(`/analytics/videos/${video}?${RANGE}`);
    assert.deepEqual(answer.at('data.retention'), [
      { second: 0, percent: 125 },
      { second: 1, percent: 50 },
      { second: 2, percent: 25 },
    ]);
    const totals = Object(answer.at('data.totals'));
    assert.deepEqual([totals.plays, totals.playRate, totals.avgPercentViewed], [5, 0.5, 5]);
    const value = (key: string, label = key) => [{ key, label, views: 4, watchTimeSec: 6 }];
    assert.deepEqual(answer.at('data.breakdown'), {
      country: value('DE', 'Germany'),
      device: value('MOBILE', 'Mobile'),
      browser: value('Firefox'),
      os: value('iOS'),
      referrer: value('', 'Direct'),
      quality: [{ key: '720', label: '720p', views: 0, watchTimeSec: 6 }],
    });
    assert.deepEqual(answer.at('data.sources'), value('DIRECT', 'Direct'));
    const empty = await read(`/analytics/videos/${video}?from=2026-11-01&to=2026-11-02`);
    const { avgViewDurationSec, avgPercentViewed, playRate } = Object(empty.at('data.totals'));
    assert.deepEqual([avgViewDurationSec, avgPercentViewed, playRate], [null, null, null]);
    assert.match(
      (await csv(`/analytics/videos/${video}?${RANGE}`)).text,
      /^date,views,[^\n]*\r\n2026-11-18,4,/,
    );
  });

  test('a stream has who was there when, and its broadcasts', async () => {
    await add(
      {
        at: '2026-11-18T10:00:00Z',
        subject: ofStream(),
        sums: { views: 2, joins: 3, leaves: 1, chat_messages: 5, viewer_samples: 2, viewer_samples_sum: 5 },
      },
      {
        at: '2026-11-18T10:15:00Z',
        subject: ofStream(),
        sums: { peak_viewers: 4, live_ms: 60_000, bitrate_kbit: 120_000, broadcasts: 1 },
      },
    );
    const session = { stream_id: stream, workspace_id: account.live, peak_viewers: 4, unique_viewers: 3 };
    await app.container.db
      .insertInto('stream_session')
      .values([
        {
          ...session,
          id: 'ses_2',
          signal_started_at: date('2026-11-18T10:00:00Z'),
          broadcast_started_at: date('2026-11-18T10:00:00Z'),
          broadcast_ended_at: date('2026-11-18T10:30:00Z'),
        },
        {
          ...session,
          id: 'ses_1',
          signal_started_at: date('2026-11-01T10:00:00Z'),
          broadcast_started_at: date('2026-11-01T10:00:00Z'),
          broadcast_ended_at: date('2026-11-01T11:00:00Z'),
        },
      ])
      .execute();
    const answer = await read(`/analytics/streams/${stream}?${RANGE}`);
    assert.deepEqual(answer.at('data.sessions'), [
      {
        sessionId: 'ses_2',
        startedAt: '2026-11-18T10:00:00.000Z',
        endedAt: '2026-11-18T10:30:00.000Z',
        durationSec: 1800,
        peakConcurrent: 4,
        uniqueViewers: 3,
      },
    ]);
    assert.deepEqual(answer.at('data.series.0'), {
      date: '2026-11-18',
      views: 2,
      uniqueViewers: 0,
      watchTimeSec: 0,
      concurrentAvg: 2.5,
      concurrentPeak: 4,
      joins: 3,
      leaves: 1,
      chatMessages: 5,
      bitrateKbps: 2000,
    });
    assert.deepEqual(Object(answer.at('data.series.1')).concurrentAvg, null);
    const row = Object((await read(`/analytics/streams?${RANGE}&sort=liveMinutes`)).at('data.rows.0'));
    assert.deepEqual([row.broadcasts, row.liveMinutes, row.avgConcurrent], [1, 1, 2.5]);
  });
});

describe('with money', () => {
  test('headline figures stand beside those of the period before, and all there ever was beside a period', async () => {
    clock.set('2026-11-01T10:00:00Z');
    const at = await creator(app);
    const [month, trial] = [await at.tier(), await at.tier({ name: 'Patron', priceCents: 900 })];
    const year = await at.tier({ name: 'Year', priceCents: 6100, interval: 'YEAR' });
    const { id: leaves } = await at.subscribe(month);
    await at.subscribe(month);
    clock.set('2026-11-18T10:00:00Z');
    await at.subscribe(year);
    await at.subscribe(trial, { trialDays: 30 });
    (await at.post(leaves, 'cancel', { atPeriodEnd: false })).assertOk(200);
    clock.set(NOW);
    await addSums(app.container.db, at.account.test, [
      { at: '2026-11-12T10:00:00Z', sums: { views: 10, new_followers: 4 } },
      {
        at: '2026-11-18T10:00:00Z',
        sums: { views: 50, watch_ms: 60_000, new_followers: 2, lost_followers: 1 },
      },
    ]);
    const range = 'from=2026-11-14&to=2026-11-21';
    const summary = (await at.call('GET', `/analytics/summary?${range}`)).assertOk(200);
    const { from, to, timezone, granularity, generatedAt, dataFreshUntil, ...cards } = Object(
      summary.at('data'),
    );
    assert.deepEqual([from, to], ['2026-11-14T00:00:00.000Z', '2026-11-21T00:00:00.000Z']);
    assert.deepEqual(cards, {
      views: { value: 50, previous: 10, changePercent: 400 },
      watchTimeSec: { value: 60, previous: 0, changePercent: null },
      followers: { value: 5, previous: 4, changePercent: 25 },
      activeSubscribers: { value: 3, previous: 2, changePercent: 50 },
      mrrCents: { value: 500 + 508, previous: 1000, changePercent: 0.8 },
      grossCents: { value: 6100, previous: 0, changePercent: null },
      netCents: { value: 6100, previous: 0, changePercent: null },
      refundsCents: { value: 0, previous: 0, changePercent: null },
      churnPercent: { value: 50, previous: 0, changePercent: null },
      currency: 'USD',
    });
    const stats = (await at.call('GET', `/analytics/stats?${range}`)).assertOk(200);
    assert.deepEqual(stats.at('data.lifetime'), {
      views: 60,
      watchTimeSec: 60,
      followers: 5,
      grossCents: 7100,
      netCents: 7100,
      subscribers: 4,
      purchases: 3,
    });
    assert.deepEqual([stats.at('data.period.views'), stats.at('data.period.purchases')], [50, 1]);
    assert.deepEqual(stats.at('data.averages'), { revenuePerView: 122, revenuePerMember: 2033.33 });
    const headers = { accept: 'text/csv' };
    const table = await app.request('GET', `/analytics/summary?${range}`, { key: at.key, headers });
    assert.match(table.text, /^figure,value,previous,changePercent\r\nviews,50,10,400\r\n/);
    const both = await app.request('GET', `/analytics/stats?${range}`, { key: at.key, headers });
    assert.match(both.text, /\r\nlifetime,60,60,5,7100,7100,4,3\r\nperiod,50,/);
  });

  test('asks for the finance gate; the rest is open to any key', async () => {
    const { key: reader } = await app.createKey({ account, scope: 'READ_ONLY' });
    const { key: other } = await app.createKey({ account, scope: 'STANDARD', permissions: ['chat:write'] });
    const open = ['/account/analytics', '/analytics/account', '/analytics/videos', '/analytics/streams'];
    const ofOne = [`/analytics/videos/${video}`, `/analytics/streams/${stream}`];
    for (const one of [reader, other]) {
      for (const path of [...open, '/analytics/geography', ...ofOne]) {
        (await app.request('GET', path, { key: one })).assertOk(200);
      }
      for (const path of ['/analytics/stats', '/analytics/summary']) {
        (await app.request('GET', path, { key: one })).assertError('FINANCIAL_SCOPE_REQUIRED');
      }
    }
  });
});
