import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import { ingestSession } from '../../../../test/harness/factories.ts';
import { PLANS } from '../../../kernel/plans.ts';

let app: TestApp;
const clock = new TestClock('2026-11-20T18:00:00Z');
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.close());

const get = (key: string, path = '/quota') => app.request('GET', path, { key });
const post = async (key: string, path: string, body?: object) =>
  (await app.request('POST', path, body === undefined ? { key } : { key, body })).string('data.id');

/** Returns the usage of each resource. */
async function used(key: string): Promise<Record<string, number>> {
  const rows = (await get(key)).assertOk(200).list('data.resources').map(Object);
  return Object.fromEntries(rows.map((row) => [row.key, row.used]));
}

test('GET /summary counts existing resources, for any key, and by workspace', async () => {
  const { key, account } = await app.createKey();
  const summary = async (as: string) => Object((await get(as, '/summary')).assertOk(200).at('data'));
  const stream = await post(key, '/streams', { title: 'Evening' });
  await post(key, '/streams', { title: 'Night' });
  await app.container.signals.publishStarted(ingestSession(stream));
  await post(key, `/streams/${stream}/start`);
  await post(key, '/upload', { filename: 'a.mp4', sizeBytes: 1234 });
  await post(key, '/playlists', { title: 'First' });
  await post(key, '/support/tickets', { subject: 'Help', message: 'Please.' });
  const { key: fan } = await app.createKey();
  (await app.request('POST', `/users/${account.id}/subscribe`, { key: fan })).assertOk(201);
  assert.deepEqual(await summary(key), {
    videos: { total: 1, ready: 0, processing: 0, failed: 0 },
    streams: { total: 2, live: 1, withSignal: 1 },
    rooms: { active: 0 },
    restreams: { active: 0 },
    playlists: 1,
    followers: 1,
    subscribers: 0,
    upcomingBookings: 0,
    unreadNotifications: 0,
    openTickets: 1,
    storageBytes: 1234,
  });
  const { key: reader } = await app.createKey({ account, mode: 'test', scope: 'READ_ONLY' });
  const test = await summary(reader);
  assert.deepEqual([test.streams.total, test.playlists, test.openTickets], [0, 0, 1]);
});

describe('GET /quota', () => {
  test('quota counts what each endpoint creates and deletes', async () => {
    const { key, account } = await app.createKey();
    assert.deepEqual(await used(key), {
      STORAGE_BYTES: 0,
      VIDEO_MINUTES: 0,
      OPEN_UPLOADS: 0,
      CONCURRENT_STREAMS: 0,
      LIVE_MINUTES: 0,
      ENCODERS: 0,
      RESTREAM_TARGETS: 0,
      ROOM_PARTICIPANTS: 0,
      ROOM_MINUTES: 0,
      EGRESS_BYTES: 0,
      TEAM_SEATS: 1,
      WEBHOOKS: 0,
      API_KEYS: 1,
      INTEGRATION_DOMAINS: 0,
    });
    const stream = await post(key, '/streams', { title: 'Evening' });
    await app.container.signals.publishStarted(ingestSession(stream));
    await post(key, `/streams/${stream}/start`);
    const targets = [{ url: 'rtmp://live.example.com/app', streamKey: 'a-stream-key' }];
    const restream = await post(key, '/restreams', { streamId: stream, targets });
    const upload = await post(key, '/upload', { filename: 'a.mp4', sizeBytes: 1234 });
    const webhook = await post(key, '/me/webhooks', { url: 'https://receiver.example.com/', events: [] });
    const second = await post(key, '/me/api-keys', { name: 'Second' });
    await post(key, '/me/integration-domains', { domain: 'shop.example.com' });
    const full = {
      STORAGE_BYTES: 1234,
      VIDEO_MINUTES: 0,
      OPEN_UPLOADS: 1,
      CONCURRENT_STREAMS: 1,
      LIVE_MINUTES: 0,
      ENCODERS: 1,
      RESTREAM_TARGETS: 1,
      ROOM_PARTICIPANTS: 0,
      ROOM_MINUTES: 0,
      EGRESS_BYTES: 0,
      TEAM_SEATS: 1,
      WEBHOOKS: 1,
      API_KEYS: 2,
      INTEGRATION_DOMAINS: 1,
    };
    assert.deepEqual(await used(key), full);
    // The other mode and other accounts count separately.
    const { key: testKey } = await app.createKey({ account, mode: 'test' });
    const other = await used(testKey);
    assert.deepEqual([other.API_KEYS, other.WEBHOOKS, other.STORAGE_BYTES], [1, 0, 0]);
    const made = [`/upload/${upload}`, `/restreams/${restream}`, `/me/webhooks/${webhook}`];
    for (const path of [...made, `/me/api-keys/${second}`]) {
      (await app.request('DELETE', path, { key })).assertOk(200);
    }
    await post(key, `/streams/${stream}/stop`);
    assert.deepEqual(await used(key), {
      ...full,
      STORAGE_BYTES: 0,
      OPEN_UPLOADS: 0,
      CONCURRENT_STREAMS: 0,
      RESTREAM_TARGETS: 0,
      ROOM_PARTICIPANTS: 0,
      ROOM_MINUTES: 0,
      TEAM_SEATS: 1,
      WEBHOOKS: 0,
      API_KEYS: 1,
    });
  });

  test('quota has the limits of the plan and the remaining amounts', async () => {
    const account = await app.createAccount({ plan: 'FREE' });
    const { key } = await app.createKey({ account });
    const { WEBHOOKS: webhooks, ...limits } = Object.fromEntries(
      (await get(key))
        .assertOk(200)
        .list('data.resources')
        .map(Object)
        .map((row) => [row.key, row.limit]),
    );
    assert.deepEqual(limits, {
      STORAGE_BYTES: PLANS.FREE.storageBytes,
      VIDEO_MINUTES: null,
      OPEN_UPLOADS: 100,
      CONCURRENT_STREAMS: 1,
      LIVE_MINUTES: null,
      ENCODERS: 2,
      RESTREAM_TARGETS: 2,
      ROOM_PARTICIPANTS: 10,
      ROOM_MINUTES: null,
      EGRESS_BYTES: null,
      TEAM_SEATS: 1,
      API_KEYS: 5,
      INTEGRATION_DOMAINS: 1,
    });
    await post(key, '/me/webhooks', { url: 'https://receiver.example.com/', events: [] });
    assert.deepEqual((await get(key, '/quota/WEBHOOKS')).assertOk(200).at('data'), {
      ...{
        key: 'WEBHOOKS',
        limit: webhooks,
        used: 1,
        remaining: webhooks - 1,
        unit: 'COUNT',
        resetsAt: null,
      },
    });
  });

  test('quota follows a plan change immediately, and remaining is never negative', async () => {
    const { key, account } = await app.createKey();
    for (let n = 0; n < 4; n++) {
      await post(key, '/me/webhooks', { url: `https://receiver.example.com/${n}`, events: [] });
    }
    await app.container.accounts.setPlan(account.email, 'FREE');
    const quota = (await get(key)).assertOk(200);
    assert.equal(quota.at('data.plan'), 'FREE');
    const row = Object((await get(key, '/quota/WEBHOOKS')).at('data'));
    assert.deepEqual([row.limit, row.used, row.remaining], [3, 4, 0]);
  });

  test('quota has the media limits, in test mode too', async () => {
    const account = await app.createAccount({ plan: 'PRO' });
    const media = async (mode: 'live' | 'test') => {
      const { key } = await app.createKey({ account, mode });
      const quota = (await get(key)).assertOk(200);
      assert.equal(quota.at('data.mode'), mode);
      return quota.at('data.media');
    };
    const live = {
      maxUploadHeight: 2160,
      maxLiveHeight: 1440,
      maxUploadFps: 120,
      maxLiveFps: 60,
      maxLiveKbps: 60_000,
      maxFileBytes: 100 * 2 ** 30,
      maxDurationSec: 43_200,
    };
    assert.deepEqual(await media('live'), live);
    assert.deepEqual(await media('test'), { ...live, maxUploadHeight: 720, maxLiveHeight: 720 });
  });

  test('quota has the request limits of the key, equal to the headers', async () => {
    const { key } = await app.createKey({ rateLimitPerMinute: 50, dailyQuota: 5 });
    await get(key);
    const answer = (await get(key)).assertOk(200);
    const { perMinute, perDay } = Object(answer.at('data.requests'));
    const { resetsAt, ...minute } = perMinute;
    assert.deepEqual(minute, { limit: 50, used: 2, remaining: 48 });
    assert.equal(answer.headers['x-ratelimit-remaining'], '48');
    const left = Date.parse(resetsAt) - clock.ms();
    assert.ok(left > 0 && left <= 60_000, resetsAt);
    const midnight = '2026-11-21T00:00:00.000Z';
    assert.deepEqual(perDay, { limit: 5, used: 2, remaining: 3, resetsAt: midnight });
    const unlimited = await app.createKey();
    assert.equal((await get(unlimited.key)).at('data.requests.perDay'), null);
  });

  test('quota is readable with any key, and not without one', async () => {
    for (const permissions of [['chat:write'], []] as const) {
      const { key } = await app.createKey({ scope: 'STANDARD', permissions: [...permissions] });
      (await get(key)).assertOk(200);
      (await get(key, '/quota/API_KEYS')).assertOk(200);
    }
    const { key } = await app.createKey({ scope: 'READ_ONLY' });
    (await get(key)).assertOk(200);
    (await app.request('GET', '/quota')).assertError('UNAUTHORIZED');
    for (const name of ['NOTHING', 'webhooks', '%00', 'toString', '__proto__']) {
      (await get(key, `/quota/${name}`)).assertError('NOT_FOUND');
    }
  });
});
