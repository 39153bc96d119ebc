import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import { TestClock } from '../../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { insertReadyVideo } from '../../../../../test/harness/videos.ts';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { createPackagedStream } from '../../../../../test/streams/packaged-stream.ts';
import { dateFromMs } from '../../../../kernel/clock.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp({ clock });
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const packaged = (settings: object = {}) => createPackagedStream({ app, key, clock }, settings);

const FILES = ['master.m3u8', 'src/index.m3u8', 'e1/src/s_000002.m4s', 'e1/src/init.mp4'];

test('every URL gets 404 except between start and stop, without a body and readable from any page', async () => {
  const stream = await packaged();
  const all = async (expected: number, userAgent = 'Anna') => {
    for (const path of FILES) {
      const answer = await stream.get(path, { headers: { 'user-agent': userAgent } });
      assert.equal(answer.status, expected, path);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      assert.match(answer.headers.get('access-control-expose-headers') ?? '', /Content-Range/);
      const body = await answer.arrayBuffer();
      if (expected !== 404) continue;
      assert.equal(body.byteLength, 0, path);
      assert.equal(answer.headers.get('content-type'), null);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
  };
  await all(404);
  await stream.act('start');
  await all(200);
  await stream.act('stop');
  await all(404, 'Somebody new');
});

test('after the stop the same URL redirects to the recording for entitled viewers', async () => {
  const stream = await packaged();
  await stream.act('start');
  await stream.act('stop');
  const { db } = app.container;
  const sessionId = (await stream.sessions()).string('data.0.id');
  const video_id = await insertReadyVideo(db, account.live, { source: 'RECORDING' });
  const ids = { id: sessionId, session_id: sessionId, stream_id: stream.id, workspace_id: account.live };
  const at = clock.now();
  const where = async (path: string, method = 'GET') => {
    const answer = await stream.get(path, { method, redirect: 'manual', headers: { 'user-agent': 'New' } });
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    return answer.headers.get('location') ?? answer.status;
  };
  assert.equal(await where('master.m3u8'), 404, 'there is none');
  await db
    .insertInto('recording')
    .values({ ...ids, number: 1, video_id, created_at: at, settled_at: at })
    .execute();
  const address = `/v/${video_id}/master.m3u8`;
  await waitFor(async () => (await where('master.m3u8')) === address);
  assert.equal(await where('master.m3u8?token=none', 'HEAD'), address);
  assert.deepEqual([await where('src/index.m3u8'), await where('thumbnail.jpg')], [404, 404]);
  for (const visibility of ['PRIVATE', 'UNLISTED']) {
    (await app.request('PATCH', `/videos/${video_id}`, { key, body: { visibility } })).assertOk(200);
    await waitFor(async () => (await where('master.m3u8')) === 404, { message: visibility });
  }
  const rest = await insertReadyVideo(db, account.live, { source: 'RECORDING' });
  const second = { ...ids, id: `${sessionId}2`, number: 2, video_id: rest, created_at: at, settled_at: at };
  await db.insertInto('recording').values(second).execute();
  const message = 'of a long broadcast, the first that is open';
  await waitFor(async () => (await where('master.m3u8')) === `/v/${rest}/master.m3u8`, { message });
  await stream.act('start');
  assert.equal((await stream.get('master.m3u8')).status, 200);
});

test('one segment before the start is visible, and the others cannot be guessed', async () => {
  const stream = await packaged();
  await stream.act('start');
  const playlist = await (await stream.get('src/index.m3u8')).text();
  assert.deepEqual(playlist.match(/s_\d+\.m4s/g), ['s_000002.m4s']);
  assert.equal((await stream.get('e1/src/s_000002.m4s')).status, 200);
  assert.equal((await stream.get('e1/src/s_000001.m4s')).status, 404);
  assert.equal((await stream.get('e1/src/s_000000.m4s')).status, 404);
  const preview = new URL(String(await stream.read('previewUrl'))).search;
  assert.equal((await stream.get(`e1/src/s_000000.m4s${preview}`)).status, 200, 'the owner sees them');
});

test('a reverse proxy caches public responses for a second, and no others', async () => {
  const kept = async (stream: Awaited<ReturnType<typeof packaged>>, path: string) =>
    (await stream.get(path)).headers.get('x-accel-expires');
  const open = await packaged();
  await open.act('start');
  assert.deepEqual(await Promise.all(FILES.map((path) => kept(open, path))), [null, '1', '1', '1']);
  assert.equal(await kept(open, 'e1/src/s_000001.m4s'), null, 'a refusal');
  await open.act('stop');
  assert.equal(await kept(open, 'src/index.m3u8'), null, 'the rest is for who was watching');
  const closed = await packaged({ visibility: 'PRIVATE' });
  await closed.act('start');
  const token = new URL(String(await closed.read('playbackUrl'))).search;
  for (const path of FILES) assert.equal(await kept(closed, path + token), null, path);
});

test('a cache of media segments can check whether they may be served', async () => {
  const asks = async (stream: Awaited<ReturnType<typeof packaged>>, query = '') => {
    const { status, headers } = await stream.get(`admission${query}`);
    return [status, headers.get('x-accel-expires')];
  };
  const open = await packaged();
  assert.deepEqual(await asks(open), [403, '1']);
  await open.act('start');
  assert.deepEqual(await asks(open), [204, '1']);
  await open.act('stop');
  assert.deepEqual(await asks(open), [403, '1']);
  const closed = await packaged({ visibility: 'PRIVATE' });
  await closed.act('start');
  const token = new URL(String(await closed.read('playbackUrl'))).search;
  assert.deepEqual(await asks(closed, token), [204, null], 'it is kept for nobody else');
  assert.deepEqual(await asks(closed), [403, null]);
  const nobody = `${app.url}/live/str_00000000000000000000000000/admission`;
  assert.equal((await fetch(nobody)).status, 403);
});

test('HEAD, ranges and validators work, and an unsatisfiable range has no body', async () => {
  const stream = await packaged();
  await stream.act('start');
  const path = 'e1/src/s_000002.m4s';
  const head = await stream.get(path, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '1000']);
  const part = await stream.get(path, { headers: { range: 'bytes=10-19' } });
  assert.equal(part.status, 206);
  assert.equal((await part.arrayBuffer()).byteLength, 10);
  const beyond = await stream.get(path, { headers: { range: 'bytes=1000-' } });
  assert.equal(beyond.status, 416);
  assert.equal((await beyond.arrayBuffer()).byteLength, 0);
  const known = await stream.get(path, { headers: { 'if-none-match': head.headers.get('etag') ?? '' } });
  assert.equal(known.status, 304);
});

test('a request for the next segment is answered when it exists, or when the broadcast has stopped', async () => {
  const stream = await packaged();
  await stream.act('start');
  const next = (query: string) => stream.get(`src/index.m3u8?${query}`);
  assert.match(await (await next('_HLS_msn=2')).text(), /s_000002/, 'it is there');
  const waiting = next('_HLS_msn=3');
  await stream.add(clock.ms() + 2000);
  assert.match(await (await waiting).text(), /s_000003/);
  for (const query of [
    '_HLS_msn=6',
    '_HLS_msn=-1',
    '_HLS_msn=x',
    '_HLS_part=1',
    '_HLS_msn=4&_HLS_part=x',
    '_HLS_skip=1',
  ])
    assert.equal((await next(query)).status, 400, query);
  const late = stream.get('src/index.m3u8?_HLS_msn=4&_HLS_part=0', { headers: { 'user-agent': 'Late' } });
  await stream.act('stop');
  assert.equal((await late).status, 404);
});

test('a player that asks for ranges passes the preflight', async () => {
  const stream = await packaged();
  const headers = {
    origin: 'https://player.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'range,if-none-match',
  };
  for (const path of FILES) {
    const answer = await stream.get(path, { method: 'OPTIONS', headers });
    assert.equal(answer.status, 204);
    assert.match(answer.headers.get('access-control-allow-headers') ?? '', /\bRange\b.*\bIf-None-Match\b/);
  }
});

test('a private stream needs its own token, including its segments', async () => {
  const stream = await packaged({ visibility: 'PRIVATE' });
  const other = await packaged({ visibility: 'PRIVATE' });
  await stream.act('start');
  const token = new URL(String(await stream.read('playbackUrl'))).search;
  const foreign = new URL(String(await other.read('playbackUrl'))).search;
  for (const path of FILES) {
    assert.equal((await stream.get(path)).status, 404, path);
    assert.equal((await stream.get(path + foreign)).status, 404, path);
    assert.equal((await stream.get(`${path + token}x`)).status, 404, path);
    assert.equal((await stream.get(`${path}${token}&${token.slice(1)}`)).status, 404, path);
    assert.equal((await stream.get(path + token)).status, 200, path);
  }
  const segment = await stream.get(`e1/src/s_000002.m4s${token}`);
  assert.match(segment.headers.get('cache-control') ?? '', /^private/);
});

describe('POST /streams/{id}/playback-tokens', () => {
  const mint = (id: string, body: object = {}, as = key) =>
    app.request('POST', `/streams/${id}/playback-tokens`, { key: as, body });
  const pathOf = (address: string) => address.replace('http://marquee.test', app.url);

  test('a signed embed plays a restricted broadcast until the token expires', async () => {
    const stream = await packaged({ visibility: 'PRIVATE' });
    const made = (await mint(stream.id, { ttlSec: 600 })).assertOk(201);
    const [token, playbackUrl] = [made.string('data.token'), made.string('data.playbackUrl')];
    assert.equal(playbackUrl, `http://marquee.test/live/${stream.id}/master.m3u8?token=${token}`);
    assert.equal(made.at('data.expiresAt'), dateFromMs(clock.ms() + 600_000).toISOString());
    assert.equal(
      (await fetch(pathOf(playbackUrl))).status,
      404,
      'the signal before the start is not for viewers',
    );
    await stream.act('start');
    const master = await fetch(pathOf(playbackUrl));
    assert.match(await master.text(), new RegExp(`src/index\\.m3u8\\?token=${token}`));
    for (const path of FILES) assert.equal((await stream.get(`${path}?token=${token}`)).status, 200, path);
    for (const address of [made.string('data.embedUrl'), made.string('data.watchUrl')]) {
      const page = await fetch(pathOf(address));
      assert.equal(page.status, 200);
      assert.ok((await page.text()).includes(` src="/live/${stream.id}/master.m3u8?token=${token}"`));
      assert.equal((await fetch(pathOf(address).split('?')[0] ?? '')).status, 404);
    }
    const other = await packaged({ visibility: 'PRIVATE' });
    await other.act('start');
    assert.equal((await other.get(`master.m3u8?token=${token}`)).status, 404, 'it is for one stream');
    clock.advance(600_000);
    for (const path of FILES) assert.equal((await stream.get(`${path}?token=${token}`)).status, 404, path);
  });

  test('viewers with separate tokens are counted separately, and the token does not reveal their identity', async () => {
    const stream = await packaged({ visibility: 'UNLISTED' });
    await stream.act('start');
    const tokens = await Promise.all(
      ['anna', 'berta', 'anna'].map(async (viewerId) =>
        (await mint(stream.id, { viewerId })).assertOk(201).string('data.token'),
      ),
    );
    assert.equal(new Set(tokens).size, 2);
    for (const token of tokens) {
      assert.ok(!token.includes('anna'));
      assert.equal((await stream.get(`src/index.m3u8?token=${token}`)).status, 200);
    }
    await app.container.viewers.flush();
    assert.equal(await stream.read('viewerCount'), 2);
  });

  test('a playback token needs streams:write and a stream of the workspace', async () => {
    const { id } = await packaged();
    (await mint(id, {}, (await app.createKey()).key)).assertError('NOT_FOUND');
    const reader = await app.createKey({ account, scope: 'STANDARD', permissions: ['streams:read'] });
    (await mint(id, {}, reader.key)).assertError('PERMISSION_DENIED');
    (await mint('str_00000000000000000000000000')).assertError('NOT_FOUND');
    (await mint(id, { ttlSec: 59 })).assertError('BAD_REQUEST', 'ttlSec');
    (await mint(id, { viewerId: '' })).assertError('BAD_REQUEST', 'viewerId');
  });
});
