import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import { TestClock } from '../../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { insertReadyVideo, insertVideo } from '../../../../../test/harness/videos.ts';

const HOUR_MS = 3_600_000;
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let account: TestAccount;
/** Uses a new IP address for each call unless a test passes one: the limit counts per address. */
let addresses = 0;

before(async () => {
  app = await startTestApp({ clock, env: { TRUST_PROXY: '127.0.0.1' } });
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const ready = (columns: object = {}) => insertReadyVideo(app.container.db, account.live, columns);

interface From {
  ip?: string;
  userAgent?: string;
}

function view(id: string, body?: object, { ip, userAgent = 'a browser' }: From = {}) {
  addresses += 1;
  const address = ip ?? `10.0.${addresses >> 8}.${addresses & 255}`;
  const headers = { 'x-forwarded-for': address, 'user-agent': userAgent };
  return app.request('POST', `/videos/${id}/views`, { body, headers });
}

const watched = (sessionId: string, positionSec = 10) => ({ sessionId, positionSec });

describe('POST /videos/{id}/views', () => {
  test('a view is counted without a key, and the video shows it', async () => {
    const id = await ready();
    const answer = (await view(id, { ...watched('one'), referrer: 'https://example.com/' })).assertOk(200);
    assert.deepEqual(answer.at('data'), { counted: true, viewCount: 1 });
    answer.assertRateLimited(false);
    assert.equal((await app.request('GET', `/videos/${id}`, { key })).at('data.viewCount'), 1);
  });

  test('a session counts once in 24 hours, regardless of its IP address', async () => {
    const id = await ready();
    assert.equal((await view(id, watched('one'))).at('data.counted'), true);
    clock.advance(23 * HOUR_MS);
    const again = await view(id, watched('one', 30), { userAgent: 'another' });
    assert.deepEqual(again.assertOk(200).at('data'), { counted: false, viewCount: 1 });
    await app.container.audience.forgetViewers();
    assert.equal((await view(id, watched('one'))).at('data.counted'), false);
    clock.advance(HOUR_MS);
    assert.deepEqual((await view(id, watched('one'))).at('data'), { counted: true, viewCount: 2 });
    clock.advance(HOUR_MS);
    assert.equal((await view(id, watched('one'))).at('data.counted'), false);
    assert.equal((await view(id, watched('two'))).at('data.counted'), true);
  });

  test('viewers without a session are distinguished by IP address and browser', async () => {
    const id = await ready();
    const at = { positionSec: 15 };
    const from = async (ip: string, userAgent?: string) =>
      (await view(id, at, userAgent === undefined ? { ip } : { ip, userAgent })).at('data.counted');
    assert.equal(await from('192.0.2.1'), true);
    assert.equal(await from('192.0.2.1'), false);
    assert.equal(await from('192.0.2.1', 'another browser'), true);
    assert.equal(await from('192.0.2.2'), true);
    assert.equal(await from('2001:db8:1:2::1'), true);
    assert.equal(await from('2001:db8:1:2:ffff::9'), false);
  });

  test('stored views contain no IP address, and viewers cannot be compared between videos', async () => {
    const [one, two] = [await ready(), await ready()];
    await view(one, { positionSec: 15 }, { ip: '192.0.2.77' });
    await view(two, { positionSec: 15 }, { ip: '192.0.2.77' });
    const rows = await app.container.db
      .selectFrom('video_view')
      .select('viewer')
      .where('video_id', 'in', [one, two])
      .execute();
    const [first = '', second = ''] = rows.map(({ viewer }) => Buffer.from(viewer).toString('hex'));
    assert.equal(first.length, 64);
    assert.notEqual(first, second);
  });

  const positions: [durationSec: number, body: object | undefined, counted: boolean][] = [
    [60, undefined, true],
    [60, {}, true],
    [60, { positionSec: 0 }, false],
    [60, { positionSec: 9.9 }, false],
    [60, { positionSec: 10 }, true],
    [20, { positionSec: 4.9 }, false],
    [20, { positionSec: 5 }, true],
  ];
  for (const [durationSec, body, counted] of positions) {
    test(`${JSON.stringify(body)} of ${durationSec} s ${counted ? 'counts' : 'does not count'}`, async () => {
      const id = await ready({ duration_sec: durationSec });
      assert.deepEqual((await view(id, body)).assertOk(200).at('data'), {
        counted,
        viewCount: counted ? 1 : 0,
      });
    });
  }

  test('views without a position count one IP address once in 24 hours, regardless of its user agent', async () => {
    const id = await ready();
    const from = async (ip: string, sessionId: string, userAgent: string) =>
      (await view(id, { sessionId }, { ip, userAgent })).assertOk(200).at('data.counted');
    assert.equal(await from('192.0.2.8', 'one', 'a browser'), true);
    assert.equal(await from('192.0.2.8', 'two', 'another browser'), false);
    assert.equal(await from('192.0.2.9', 'one', 'a browser'), true);
    clock.advance(25 * HOUR_MS);
    assert.equal(await from('192.0.2.8', 'three', 'a browser'), true);
  });

  test('concurrent calls count each viewer exactly once', async () => {
    const id = await ready();
    const calls = Array.from({ length: 120 }, (_, i) => view(id, watched(`session ${i % 40}`)));
    const answers = await Promise.all(calls);
    assert.equal(answers.filter((answer) => answer.at('data.counted') === true).length, 40);
    assert.equal((await app.request('GET', `/videos/${id}`, { key })).at('data.viewCount'), 40);
  });

  test('a video that is not public gets 404 unless a playback token opens it', async () => {
    for (const visibility of ['PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'] as const) {
      const id = await ready({ visibility });
      (await view(id, watched('one'))).assertError('NOT_FOUND');
      const url = (await app.request('GET', `/videos/${id}`, { key })).string('data.playbackUrl');
      const token = new URL(url).searchParams.get('token') ?? '';
      const path = (video: string) => `/videos/${video}/views?token=${encodeURIComponent(token)}`;
      const body = watched('one');
      assert.equal((await app.request('POST', path(id), { body })).assertOk(200).at('data.counted'), true);
      const other = await ready({ visibility });
      (await app.request('POST', path(other), { body })).assertError('NOT_FOUND');
    }
    (await view(await ready({ visibility: 'UNLISTED' }), watched('one'))).assertOk(200);
  });

  test('no view is counted before the video is playable', async () => {
    const waiting = await insertVideo(app.container.db, account.live);
    const nothing = { counted: false, viewCount: 0 };
    assert.deepEqual((await view(waiting, watched('one'))).assertOk(200).at('data'), nothing);
    // The first rung is sufficient.
    const playable = await ready({ status: 'PROCESSING' });
    assert.equal((await view(playable, watched('one'))).at('data.counted'), true);
  });

  test('IDs that belong to no video get 404', async () => {
    for (const id of ['vid_none', 'str_01kafe3n4pfx2v9yq6m8d7t5zr', '%00', 'x'.repeat(3000)]) {
      (await view(id, watched('one'))).assertError('NOT_FOUND');
    }
  });

  const refused: [body: unknown, field: string][] = [
    [{ positionSec: -1 }, 'positionSec'],
    [{ positionSec: '10' }, 'positionSec'],
    [{ sessionId: '' }, 'sessionId'],
    [{ sessionId: 'x'.repeat(129) }, 'sessionId'],
    [{ sessionId: 5 }, 'sessionId'],
    [{ referrer: 'x'.repeat(2049) }, 'referrer'],
    ['[]', 'body'],
  ];
  for (const [body, field] of refused) {
    test(`400 for ${JSON.stringify(body).slice(0, 40)}`, async () => {
      const answer = await app.request('POST', `/videos/${await ready()}/views`, { body });
      answer.assertError('BAD_REQUEST', field);
    });
  }

  test('429 RATE_LIMIT for the 31st from one address for one video in a minute', async () => {
    const [id, other] = [await ready(), await ready()];
    const from = { ip: '198.51.100.1' };
    for (let i = 0; i < 30; i++) (await view(id, watched(`s${i}`), from)).assertOk(200);
    const limited = (await view(id, watched('s30'), from)).assertError('RATE_LIMIT');
    assert.match(limited.headers['retry-after'] ?? '', /^[1-6]?\d$/);
    (await view(other, watched('s30'), from)).assertOk(200);
    (await view(id, watched('s30'), { ip: '198.51.100.2' })).assertOk(200);
  });

  test('429 RATE_LIMIT for an IP address that keeps naming new videos, regardless of the length of their IDs', async () => {
    const from = { ip: '198.51.100.9' };
    const post = (id: string) => view(id, watched('s'), from);
    // None of them is a valid ID, so they count as one.
    for (let i = 0; i < 30; i++) (await post(`${'x'.repeat(8000)}${i}`)).assertError('NOT_FOUND');
    (await post(`${'x'.repeat(8000)}-more`)).assertError('RATE_LIMIT');
    const statuses = new Set<number>();
    for (let i = 0; i < 600; i++) statuses.add((await post(`vid_${i}`)).status);
    assert.deepEqual([...statuses], [404, 429]);
  });

  test('a key only attributes views: READ_ONLY keys may call, and an invalid key is ignored', async () => {
    const id = await ready();
    const reader = await app.createKey({ account, scope: 'READ_ONLY' });
    const post = (by: string) => app.request('POST', `/videos/${id}/views`, { key: by, body: watched('k') });
    (await post(reader.key)).assertOk(200).assertRateLimited(true);
    (await post(`pk_${'0'.repeat(40)}`)).assertOk(200).assertRateLimited(false);
  });
});
