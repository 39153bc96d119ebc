import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import sharp from 'sharp';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { type HttpsSink, startHttpsSink } from '../../../../test/harness/https-sink.ts';
import { insertReadyVideo } from '../../../../test/harness/videos.ts';
import { trust } from '../../../../test/webhooks/fixture.ts';

let app: TestApp;
let sink: HttpsSink;
let account: TestAccount;
let key: string;
let addresses = 0;

before(async () => {
  sink = await startHttpsSink();
  trust(sink);
  app = await startTestApp({ env: { TRUST_PROXY: '127.0.0.1', FETCH_ALLOW_PRIVATE: '127.0.0.1,::1' } });
  ({ account, key } = await app.createKey());
});
after(async () => {
  await app.close();
  await sink.close();
});

/** Sends a request of a visitor without a key, each from a separate IP address. */
function channel(path: string, by: { key?: string } = {}) {
  addresses += 1;
  const headers = { 'x-forwarded-for': `10.${addresses >> 8}.0.${addresses & 255}` };
  return app.request('GET', `/channel/${path}`, { headers, ...by });
}
const patch = (body: unknown, by = key, id = 'me') =>
  app.request('PATCH', `/channels/${id}`, { key: by, body });
const create = async (path: string, body: object, by = key) =>
  (await app.request('POST', path, { key: by, body })).assertOk(201).string('data.id');
const titles = (rows: unknown[]) => rows.map((row) => String(Object(row).title));
const picture = (width = 400, height = 100) =>
  sharp({ create: { width, height, channels: 3, background: 'red' } })
    .withExif({ IFD0: { Copyright: 'secret' } })
    .png()
    .toBuffer();
const testKey = async () => (await app.createKey({ account, mode: 'test' })).key;

describe('GET /channel/{username}', () => {
  test('a channel shows its profile, live streams, and the tiers that accept members', async () => {
    const { key: by, account: owner } = await app.createKey();
    const changed = {
      displayName: 'Ada 🎬',
      description: 'Films.',
      links: [{ label: 'Site', url: 'https://example.com/' }],
    };
    (await patch(changed, by)).assertOk(200);
    const dear = await create('/tiers', { name: 'Dear', priceCents: 900, interval: 'YEAR', position: 2 }, by);
    const first = await create(
      '/tiers',
      { name: 'First', priceCents: 500, interval: 'MONTH', position: 1 },
      by,
    );
    await create('/tiers', { name: 'Closed', priceCents: 1, interval: 'MONTH', isActive: false }, by);
    const live = await create('/streams', { title: 'On air' }, by);
    const hidden = await create('/streams', { title: 'Hidden', visibility: 'UNLISTED' }, by);
    await create('/streams', { title: 'Later' }, by);
    for (const id of [live, hidden])
      (await app.request('POST', `/streams/${id}/start`, { key: by })).assertOk(200);
    await insertReadyVideo(app.container.db, owner.live);
    await insertReadyVideo(app.container.db, owner.live, { visibility: 'UNLISTED' });
    await insertReadyVideo(app.container.db, owner.test);
    const answer = (await channel(owner.id)).assertOk(200).assertRateLimited(false);
    const playbackUrl = `http://marquee.test/live/${live}/master.m3u8`;
    const { id, createdAt } = Object(answer.at('data'));
    assert.deepEqual(answer.at('data'), {
      id,
      username: owner.id,
      ...changed,
      avatarUrl: null,
      bannerUrl: null,
      followerCount: 0,
      videoCount: 1,
      isLive: true,
      liveStreams: [{ streamId: live, title: 'On air', playbackUrl, startedAt: null }],
      tiers: [
        { id: first, name: 'First', priceCents: 500, currency: 'USD', interval: 'MONTH' },
        { id: dear, name: 'Dear', priceCents: 900, currency: 'USD', interval: 'YEAR' },
      ],
      createdAt,
    });
    assert.match(id, /^chn_[0-9a-z]{26}$/);
    (await channel(owner.id, { key })).assertOk(200).assertRateLimited(true);
    assert.equal((await channel(owner.id, { key: 'nonsense' })).status, 200, 'a key that is none is ignored');
    const related = await app.request(
      'GET',
      `/videos/${await insertReadyVideo(app.container.db, owner.live)}/related`,
    );
    assert.equal(related.at('data.0.channel.displayName'), 'Ada 🎬');
  });

  test('unknown names and suspended accounts get 404 in every list', async () => {
    const suspended = await app.createAccount();
    await app.container.accounts.suspend(suspended.email);
    for (const name of [
      'nobody',
      suspended.id,
      account.id.toUpperCase(),
      '%F0%9F%8E%AC',
      '%00',
      '..%2f',
      'me',
      'a'.repeat(3000),
    ]) {
      for (const path of ['', '/videos', '/streams', '/playlists'])
        (await channel(name + path)).assertError('NOT_FOUND');
    }
  });

  test('an IP address may send 60 requests per minute to all lists, then gets 429 with a message', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    const paths = ['', '/videos', '/streams', '/playlists'];
    const ask = (count: number) =>
      app.request('GET', `/channel/${account.id}${paths[count % 4]}`, { headers });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, count) => ask(count)));
    for (const answer of answers) answer.assertOk(200);
    for (const count of [0, 1, 2, 3]) {
      const limited = await ask(count);
      assert.equal(limited.status, 429);
      const retryAfter = Number(limited.headers['retry-after']);
      assert.deepEqual(limited.json, { success: false, error: 'Too many requests', retryAfter });
    }
    const related = await insertReadyVideo(app.container.db, account.live);
    assert.equal((await app.request('GET', `/videos/${related}/related`, { headers })).status, 429);
  });
});

describe('the lists of a channel', () => {
  test('channel lists contain PUBLIC items only, in pages, with unsigned URLs', async () => {
    const { key: by, account: owner } = await app.createKey();
    const { db } = app.container;
    const videos: string[] = [];
    for (const title of ['one', 'two', 'three'])
      videos.push(await insertReadyVideo(db, owner.live, { title }));
    const secret = await insertReadyVideo(db, owner.live, { title: 'private', visibility: 'PRIVATE' });
    for (const visibility of ['UNLISTED', 'FOLLOWERS', 'TIER'] as const)
      await insertReadyVideo(db, owner.live, { visibility });
    await insertReadyVideo(db, owner.live, { status: 'PROCESSING' });
    await insertReadyVideo(db, owner.live, { deleted_at: new Date() });
    const page = (await channel(`${owner.id}/videos?limit=2`)).assertOk(200);
    assert.deepEqual(titles(page.list('data')), ['three', 'two']);
    assert.equal(page.at('data.0.watchUrl'), `http://marquee.test/watch/${videos[2]}`);
    const cursor = encodeURIComponent(page.string('pagination.nextCursor'));
    const rest = (await channel(`${owner.id}/videos?limit=2&cursor=${cursor}`)).assertOk(200);
    assert.deepEqual([titles(rest.list('data')), rest.at('pagination.hasMore')], [['one'], false]);
    (await channel(`${account.id}/videos?cursor=${cursor}`)).assertError('BAD_REQUEST', 'cursor');
    (await channel(`${owner.id}/streams?cursor=${cursor}`)).assertError('BAD_REQUEST', 'cursor');

    await create('/streams', { title: 'open' }, by);
    await create('/streams', { title: 'off', enabled: false }, by);
    await create('/streams', { title: 'secret', visibility: 'PRIVATE' }, by);
    const streams = (await channel(`${owner.id}/streams`)).assertOk(200);
    assert.deepEqual(titles(streams.list('data')), ['open']);
    assert.deepEqual([streams.at('data.0.isLive'), streams.at('data.0.startedAt')], [false, null]);

    const mixed = await create('/playlists', { title: 'mixed' }, by);
    await create('/playlists', { title: 'hidden', visibility: 'UNLISTED' }, by);
    for (const videoId of [secret, videos[0]]) await create(`/playlists/${mixed}/items`, { videoId }, by);
    const playlists = (await channel(`${owner.id}/playlists`)).assertOk(200);
    assert.deepEqual(titles(playlists.list('data')), ['mixed']);
    const { itemCount, totalDurationSec, thumbnailUrl } = Object(playlists.at('data.0'));
    assert.deepEqual([itemCount, totalDurationSec], [1, 60]);
    assert.equal(thumbnailUrl, `http://marquee.test/v/${videos[0]}/r0a1/img/poster.jpg`);
    for (const { text } of [page, rest, streams, playlists]) assert.doesNotMatch(text, /token=/);
  });
});

describe('/channels', () => {
  test('each workspace has one channel, by its ID or as me', async () => {
    const list = (await app.request('GET', '/channels', { key })).assertOk(200);
    assert.equal(list.list('data').length, 1);
    const id = list.string('data.0.id');
    for (const [query, count] of [
      ['createdAfter=2999-01-01T00:00:00Z', 0],
      ['createdBefore=2000-01-01T00:00:00Z', 0],
      ['createdAfter=2000-01-01T00:00:00Z', 1],
    ] as const) {
      const within = (await app.request('GET', `/channels?${query}`, { key })).assertOk(200);
      assert.equal(within.list('data').length, count, query);
    }
    for (const name of [id, 'me']) {
      const one = (await app.request('GET', `/channels/${name}`, { key })).assertOk(200);
      assert.deepEqual(one.at('data'), list.at('data.0'));
    }
    assert.equal(list.at('data.0.url'), `http://marquee.test/@${account.id}`);
    const other = await testKey();
    const testOwn = (await app.request('GET', '/channels/me', { key: other })).assertOk(200);
    assert.deepEqual([testOwn.at('data.url'), testOwn.at('data.mode')], [null, 'test']);
    for (const name of [id, account.live, 'ME', 'chn_none']) {
      (await app.request('GET', `/channels/${name}`, { key: other })).assertError('NOT_FOUND');
      (await patch({ displayName: 'x' }, other, name)).assertError('NOT_FOUND');
    }
  });

  test('PATCH changes the sent fields, and in test mode the live channel is unchanged', async () => {
    (await patch({ displayName: '  آدا 🎬 ', description: 'One\r\ntwo' })).assertOk(200);
    const links = [{ label: 'Site', url: 'https://EXAMPLE.com' }];
    const answer = (await patch({ links })).assertOk(200);
    const { displayName, description, links: kept } = Object(answer.at('data'));
    assert.deepEqual(
      { displayName, description, kept },
      {
        displayName: 'آدا 🎬',
        description: 'One\ntwo',
        kept: [{ label: 'Site', url: 'https://example.com/' }],
      },
    );
    (await patch({ displayName: 'Only a test' }, await testKey())).assertOk(200);
    assert.equal((await channel(account.id)).at('data.displayName'), 'آدا 🎬');
    const emptied = (await patch({ displayName: null, description: null, links: [] })).assertOk(200);
    assert.deepEqual([emptied.at('data.displayName'), emptied.at('data.description')], [account.id, null]);
    (await app.request('PATCH', '/me', { key, body: { name: 'Ada' } })).assertOk(200);
    assert.equal((await channel(account.id)).at('data.displayName'), 'Ada');
  });

  test('an invalid or overlong name or link is rejected with its field', async () => {
    const link = { label: 'a', url: 'https://a.example' };
    for (const [body, field] of [
      [{ displayName: 'x'.repeat(81) }, 'displayName'],
      [{ displayName: '\u200B' }, 'displayName'],
      [{ displayName: 7 }, 'displayName'],
      [{ description: 'x'.repeat(5001) }, 'description'],
      [{ links: Array.from({ length: 11 }, () => link) }, 'links'],
      [{ links: [link, { label: 'b', url: 'javascript:alert(1)' }] }, 'links.1.url'],
      [{ links: [{ label: '', url: 'https://a.example' }] }, 'links.0.label'],
      [{ links: [{ url: 'https://a.example' }] }, 'links.0.label'],
      [{ links: 'x' }, 'links'],
    ] as const) {
      (await patch(body)).assertError('BAD_REQUEST', field);
    }
    (await patch({ description: 'x'.repeat(1_100_000) })).assertError('PAYLOAD_TOO_LARGE');
    const reader = (await app.createKey({ account, scope: 'READ_ONLY' })).key;
    (await patch({}, reader)).assertError('INSUFFICIENT_SCOPE');
    const limited = (await app.createKey({ account, scope: 'STANDARD', permissions: ['videos:write'] })).key;
    (await patch({}, limited)).assertError('PERMISSION_DENIED');
  });
});

describe('banners', () => {
  const served = (url: string) => fetch(url.replace('http://marquee.test', app.url));

  test('a banner URL is fetched once, guarded, and served as an own JPEG', async () => {
    const sent = await picture();
    sink.reply = () => ({ body: sent, headers: { 'content-type': 'text/html' } });
    const first = (await patch({ bannerUrl: `${sink.url}/a.png` })).assertOk(200).string('data.bannerUrl');
    const answer = await served(first);
    assert.equal(answer.headers.get('content-type'), 'image/jpeg');
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.equal((await sharp(bytes).metadata()).width, 400);
    assert.ok(!bytes.includes('secret'));
    const count = sink.requests.length;
    assert.equal(
      (await patch({ bannerUrl: first, description: 'Same' })).assertOk(200).at('data.bannerUrl'),
      first,
    );
    assert.equal(sink.requests.length, count, 'its own address changes nothing');
    sink.reply = () => ({ body: '<svg/>' });
    for (const url of [
      `${sink.url}/`,
      'http://example.com/a.png',
      'https://169.254.169.254/latest',
      'https://localhost/',
      'https://user:secret@example.com/',
      'nonsense',
      '',
    ]) {
      (await patch({ bannerUrl: url, displayName: 'Not kept' })).assertError('BAD_REQUEST', 'bannerUrl');
    }
    const after = (await app.request('GET', '/channels/me', { key })).assertOk(200);
    assert.equal(after.at('data.bannerUrl'), first);
    assert.notEqual(after.at('data.displayName'), 'Not kept');
    assert.equal((await patch({ bannerUrl: null })).assertOk(200).at('data.bannerUrl'), null);
    assert.equal((await served(first)).status, 404);
    assert.equal((await served('http://marquee.test/banners/..%2f..%2fetc')).status, 404);
  });

  test('an uploaded file is accepted and can be removed', async () => {
    const path = '/channels/me/banner';
    const put = (bytes: Buffer) =>
      app.request('PUT', path, {
        key,
        headers: { 'content-type': 'multipart/form-data; boundary=limit' },
        body: Buffer.concat([
          Buffer.from('--limit\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n'),
          bytes,
          Buffer.from('\r\n--limit--\r\n'),
        ]),
      });
    const url = (await put(await picture(3000, 500))).assertOk(200).string('data.bannerUrl');
    const { width, height } = await sharp(Buffer.from(await (await served(url)).arrayBuffer())).metadata();
    assert.deepEqual([width, height], [2048, 341]);
    (await put(Buffer.from('<svg/>'))).assertError('BAD_REQUEST', 'file');
    (await app.request('PUT', path, { key, body: {} })).assertError('BAD_REQUEST', 'file');
    await app.container.accounts.suspend(account.email);
    assert.equal((await served(url)).status, 404, 'a suspended account shows nothing');
    await app.container.accounts.unsuspend(account.email);
    (await app.request('DELETE', path, { key })).assertOk(200);
    const before = (await app.request('GET', '/channels/me', { key })).assertOk(200);
    (await app.request('DELETE', path, { key })).assertError('NOT_FOUND');
    const after = (await app.request('GET', '/channels/me', { key })).assertOk(200);
    assert.deepEqual(after.at('data'), before.at('data'), 'what is refused changes nothing');
  });
});
