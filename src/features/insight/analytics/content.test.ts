import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { addSums, type Counted } from '../../../../test/harness/analytics.ts';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { runTask } from '../../../../test/harness/modules.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { creator } from '../../../../test/money/subscriber.ts';
import { dateFromMs } from '../../../kernel/clock.ts';

const NOW = '2026-11-20T09:00:00.000Z';
const clock = new TestClock(NOW);
let app: TestApp;
let account: TestAccount;
let key: string;
let video: string;
let stream: string;

before(async () => {
  app = await startTestApp({ clock, env: { TRUST_PROXY: '1', COUNTRY_HEADER: 'X-Country' } });
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

describe('invalid CSV requests', () => {
  const bad: [path: string, code: 'BAD_REQUEST' | 'NOT_FOUND', field?: string][] = [
    ['/analytics/videos?from=garbage', 'BAD_REQUEST', 'from'],
    ['/analytics/streams?filter.country=DE&filter.os=x', 'BAD_REQUEST', 'filter.os'],
    ['/analytics/geography?videoId=vid_01kafe3n4pfx2v9yq6m8d7t5zr', 'NOT_FOUND'],
    ['/usage/requests?from=2026-01-01T05:00:00Z', 'BAD_REQUEST', 'from'],
  ];
  for (const [path, code, field] of bad) {
    test(`${path} is rejected as it is in JSON`, async () => {
      const [table, json] = [await csv(path), await get(path)];
      json.assertError(code, field);
      table.assertError(code, field);
    });
  }
});

describe('lists', () => {
  test('lists are paginated in the requested order, and the CSV has all rows', async () => {
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
    assert.equal(table.headers['content-disposition'], 'attachment; filename="videos.csv"');
    assert.equal(table.text.trim().split('\r\n').length, 6);
    assert.match(table.text, /,'=Sum\(A1\),/);
  });

  test('a deleted video keeps its row and its report', async () => {
    await add({ at: '2026-11-18T10:00:00Z', subject: ofVideo(), sums: { views: 2 } });
    (await app.request('DELETE', `/videos/${video}`, { key })).assertOk(200);
    const row = Object((await read(`/analytics/videos?${RANGE}`)).at('data.rows.0'));
    assert.deepEqual([row.videoId, row.title, row.deletedAt], [video, 'Bridges', NOW]);
    const page = await read(`/analytics/videos/${video}?${RANGE}`);
    assert.deepEqual([page.at('data.totals.views'), page.at('data.deletedAt')], [2, NOW]);
  });

  test('countries have names and shares, of all content or of one video', async () => {
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
    assert.deepEqual(one.at('data.rows'), [{ ...germany, sharePercent: 37.5 }]);
    const both = await read(`/analytics/geography?${RANGE}&filter.country=DE&videoId=${video}`);
    assert.deepEqual(both.at('data.rows'), [{ ...germany, sharePercent: 75 }]);
    assert.deepEqual((await read(`/analytics/geography?${RANGE}&filter.country=FR`)).at('data.rows'), []);
  });
});

describe('analytics of one video and of one stream', () => {
  test('a video has its retention by second and its audience', async () => {
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
    const day = { workspace_id: account.live, video_id: video, interval_min: 1440, is_owner: false } as const;
    await app.container.db
      .insertInto('analytics_retention')
      .values([
        { ...day, at: date('2026-11-18T00:00:00Z'), watch_counts: [4, 2] },
        { ...day, at: date('2026-11-19T00:00:00Z'), watch_counts: [1, 0, 1] },
        { ...day, at: date('2026-11-20T00:00:00Z'), watch_counts: [9, 9, 9, 9] },
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
    const table = await csv(`/analytics/videos/${video}?${RANGE}`);
    assert.match(table.text, /^date,views,[^\n]*\r\n2026-11-18,4,/);
    const { 'content-disposition': disposition } = table.headers;
    assert.equal(disposition, `attachment; filename="videos-${video}.csv"`);
  });

  test('a stream has its audience over time, and its broadcasts', async () => {
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

describe('analytics with revenue', () => {
  test('headline figures include those of the previous period and of all time', async () => {
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
    for (const _ of [1, 2]) {
      const { key: fan } = await app.createKey({ mode: 'test' });
      const followed = await app.request('POST', `/users/${at.username}/subscribe`, { key: fan });
      followed.assertOk(201);
    }
    clock.set(NOW);
    await addSums(app.container.db, at.account.test, [
      { at: '2026-11-12T10:00:00Z', sums: { views: 10, new_followers: 1 } },
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
      followers: { value: 2, previous: 1, changePercent: 100 },
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
      followers: 2,
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
    assert.match(both.text, /\r\nlifetime,60,60,2,7100,7100,4,3\r\nperiod,50,/);
  });

  test('revenue needs the finance gate, and the rest any key', async () => {
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

test('a player beacon appears in reports a moment later', async () => {
  const headers = {
    'x-forwarded-for': '198.51.100.77',
    'x-country': 'NZ',
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  };
  const page = await (await fetch(`${app.url}/watch/${video}`, { headers })).text();
  const session = / session="([^"]*)"/.exec(page)?.[1];
  const tell = async (n: number, type: string, positionSec: number) => {
    const body = JSON.stringify({
      session,
      n,
      events: [{ type, positionSec, at: clock.ms(), quality: 720 }],
    });
    await fetch(`${app.url}/playback/beacon`, { method: 'POST', headers, body });
    await waitFor(async () => {
      const [row] = await app.container.sql<{ facts: number }[]>`
        select count(*)::integer as facts from usage_event where subject_id = ${video} and sequence_number = ${n}`;
      return row?.facts === 1;
    });
  };
  await tell(0, 'PLAY', 0);
  clock.advance(12_000);
  await tell(1, 'TICK', 12);
  const view = { sessionId: 'one', positionSec: 12 };
  (await app.request('POST', `/videos/${video}/views`, { body: view, headers })).assertOk(200);
  const path = `/analytics/videos/${video}?from=2026-11-20&to=2026-11-21`;
  // A transaction of another test delays the rollups while it runs.
  await waitFor(async () => {
    await runTask(app.container, 'analytics rollups');
    const { views, watchTimeSec } = Object((await read(path)).at('data.totals'));
    return views === 1 && watchTimeSec === 12;
  });
  const answer = await read(path);
  const { uniqueViewers, plays, impressions } = Object(answer.at('data.totals'));
  assert.deepEqual([uniqueViewers, plays, impressions], [1, 1, 1]);
  assert.ok(Date.parse(answer.string('data.dataFreshUntil')) <= clock.ms());
  assert.deepEqual(
    answer.list('data.retention').map((second) => Object(second).percent),
    Array.from({ length: 12 }, () => 100),
  );
  const { country, device, quality } = Object(answer.at('data.breakdown'));
  assert.deepEqual([country[0].key, device[0].key, quality[0].key], ['NZ', 'DESKTOP', '720']);
  assert.equal((await read(`/analytics/geography?from=2026-11-20`)).at('data.rows.0.country'), 'New Zealand');
});
