import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import { TestClock } from '../../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { addCaption, addVideo, FOLDER, madeUpFiles } from '../../../../../test/videos/fixture.ts';
import { VIDEO_TOPIC } from '../../../video/videos/with-locked-video.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
const MASTER = 'master.m3u8';
const PLAYLIST = `${FOLDER}/1080p/index.m3u8`;
const SEGMENT = `${FOLDER}/360p/s_00001.m4s`;
const LARGE = `${FOLDER}/1080p/s_00000.m4s`;
const POSTER = `${FOLDER}/img/poster.jpg`;
const STORYBOARD = `${FOLDER}/img/storyboard.vtt`;
const MEDIA = [MASTER, PLAYLIST, SEGMENT, LARGE, `${FOLDER}/audio/init.mp4`, STORYBOARD, 'chapters.vtt'];
const FILES = [...MEDIA, POSTER, `${FOLDER}/img/preview.webp`];

let app: TestApp;
let account: TestAccount;
let key: string;

before(async () => {
  app = await startTestApp({ clock });
  ({ account, key } = await app.createKey());
});
after(() => app.close());

const add = (columns: Parameters<typeof addVideo>[3] = {}, owner = account) =>
  addVideo(app.container, owner, madeUpFiles(), columns);
const get = (id: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${app.url}/v/${id}/${path}`, { headers, method, redirect: 'manual' });
const textOf = async (answer: Promise<Response>) => (await answer).text();
const tokenOf = async (id: string, ttlSec = 3600) =>
  (await app.request('POST', `/videos/${id}/playback-tokens`, { key, body: { ttlSec } }))
    .assertOk(201)
    .string('data.token');

async function statuses(id: string, paths: readonly string[], query = ''): Promise<number[]> {
  const answers = await Promise.all(paths.map((path) => get(id, path + query)));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  return [...new Set(answers.map(({ status }) => status))];
}

describe('playlists', () => {
  test('the master playlist lists every rung, the audio and the captions, fast starters first', async () => {
    const id = await add();
    const caption = await addCaption(app.container, account, id);
    const answer = await get(id, MASTER);
    assert.equal(answer.headers.get('content-type'), 'application/vnd.apple.mpegurl');
    assert.equal(answer.headers.get('cache-control'), 'no-cache');
    assert.deepEqual((await answer.text()).trim().split('\n'), [
      '#EXTM3U',
      '#EXT-X-VERSION:7',
      '#EXT-X-INDEPENDENT-SEGMENTS',
      `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Main",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="${FOLDER}/audio/index.m3u8"`,
      `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="English",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,URI="captions/${caption}.m3u8"`,
      '#EXT-X-STREAM-INF:BANDWIDTH=993600,AVERAGE-BANDWIDTH=828000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=10.000,VIDEO-RANGE=SDR,AUDIO="audio",SUBTITLES="captions",CLOSED-CAPTIONS=NONE',
      `${FOLDER}/360p/index.m3u8`,
      '#EXT-X-STREAM-INF:BANDWIDTH=6153600,AVERAGE-BANDWIDTH=5128000,CODECS="avc1.64001e,mp4a.40.2",RESOLUTION=1920x1080,FRAME-RATE=10.000,VIDEO-RANGE=SDR,AUDIO="audio",SUBTITLES="captions",CLOSED-CAPTIONS=NONE',
      `${FOLDER}/1080p/index.m3u8`,
      '#EXT-X-STREAM-INF:BANDWIDTH=153600,AVERAGE-BANDWIDTH=128000,CODECS="mp4a.40.2",AUDIO="audio",SUBTITLES="captions",CLOSED-CAPTIONS=NONE',
      `${FOLDER}/audio/index.m3u8`,
      `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=70000,CODECS="avc1.64001e",RESOLUTION=640x360,VIDEO-RANGE=SDR,URI="${FOLDER}/360p/iframes.m3u8"`,
      `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.64001e",RESOLUTION=1920x1080,VIDEO-RANGE=SDR,URI="${FOLDER}/1080p/iframes.m3u8"`,
    ]);
    const playlist = await textOf(get(id, `captions/${caption}.m3u8`));
    assert.match(playlist, new RegExp(`#EXTINF:10.000000,\n${caption}\n#EXT-X-ENDLIST`));
    assert.match(await textOf(get(id, `captions/${caption}`)), /^WEBVTT\n/);
  });

  test('the master playlist appears with the first ready rung and lists the ready ones', async () => {
    const id = await add();
    const rows = (status: 'PROCESSING' | 'READY', name: string) =>
      app.container.db
        .updateTable('video_rendition')
        .set({ status })
        .where('video_id', '=', id)
        .where('name', '=', name)
        .execute()
        .then(() => app.container.bus.publish(VIDEO_TOPIC, id));
    await rows('PROCESSING', '1080p');
    const text = await textOf(get(id, MASTER));
    assert.ok(text.includes('360p/index.m3u8') && !text.includes('1080p'));
    assert.deepEqual(await statuses(id, [PLAYLIST, LARGE]), [404], 'unfinished files have no address');
    await rows('PROCESSING', '360p');
    assert.equal((await get(id, MASTER)).status, 404);
    await rows('READY', '360p');
    assert.equal((await get(id, MASTER)).status, 200);
  });

  test('a hostile caption label is quoted', async () => {
    const id = await add();
    const label = 'A"\n#EXT-X-ENDLIST,URI="http://evil.example';
    await addCaption(app.container, account, id);
    await app.container.db.updateTable('video_caption').set({ label }).where('video_id', '=', id).execute();
    const lines = (await textOf(get(id, MASTER))).split('\n');
    assert.ok(
      lines.includes(lines.find((line) => line.includes('NAME="A  #EXT-X-ENDLIST,URI= http')) ?? '-'),
    );
  });

  test('chapters are WebVTT in which a title cannot end its cue', async () => {
    const chapters = [
      { startSec: 0, title: 'Start & <b>' },
      { startSec: 4.5, title: 'Two\n\n00:00.000 --> 00:01.000' },
    ];
    const id = await add({ chapters: JSON.stringify(chapters) });
    assert.equal(
      await textOf(get(id, 'chapters.vtt')),
      'WEBVTT\n\n00:00:00.000 --> 00:00:04.500\nStart & &lt;b>\n\n' +
        '00:00:04.500 --> 00:00:10.000\nTwo 00:00.000 --&gt; 00:01.000\n',
    );
  });
});

describe('files', () => {
  test('files have the right types, lengths and cache headers', async () => {
    const id = await add();
    const types: [path: string, type: string, length: number][] = [
      [SEGMENT, 'video/iso.segment', 1000],
      [LARGE, 'video/iso.segment', 600_000],
      [`${FOLDER}/360p/init.mp4`, 'video/mp4', 4],
      [POSTER, 'image/jpeg', 6],
      [`${FOLDER}/img/preview.webp`, 'image/webp', 7],
      [`${FOLDER}/img/sb_001.jpg`, 'image/jpeg', 6],
    ];
    for (const [path, type, length] of types) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, ...answer } = await get(id, path, {}, method).then(async (response) => ({
          status: response.status,
          headers: response.headers,
          bytes: (await response.arrayBuffer()).byteLength,
        }));
        assert.equal(status, 200, path);
        assert.equal(headers.get('content-type'), type);
        assert.equal(headers.get('content-length'), String(length));
        assert.equal(answer.bytes, method === 'GET' ? length : 0);
        assert.equal(headers.get('cache-control'), 'public, max-age=300, must-revalidate');
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
        assert.equal(headers.get('access-control-allow-origin'), '*');
        assert.equal(headers.get('accept-ranges'), 'bytes');
      }
    }
  });

  for (const path of [SEGMENT, LARGE]) {
    test(`ranges and validators of ${path}`, async () => {
      const id = await add();
      const whole = Buffer.from(await (await get(id, path)).arrayBuffer());
      const etag = (await get(id, path, {}, 'HEAD')).headers.get('etag') ?? '';
      const part = await get(id, path, { range: 'bytes=10-19' });
      assert.equal(part.status, 206);
      assert.equal(part.headers.get('content-range'), `bytes 10-19/${whole.length}`);
      assert.deepEqual(Buffer.from(await part.arrayBuffer()), whole.subarray(10, 20));
      const tail = await get(id, path, { range: 'bytes=-5' });
      assert.deepEqual(Buffer.from(await tail.arrayBuffer()), whole.subarray(-5));
      const beyond = await get(id, path, { range: `bytes=${whole.length}-` });
      assert.deepEqual(
        [beyond.status, beyond.headers.get('content-range')],
        [416, `bytes */${whole.length}`],
      );
      assert.equal((await get(id, path, { 'if-none-match': `"x", W/${etag}` })).status, 304);
      assert.equal((await get(id, path, { range: 'bytes=0-1', 'if-range': etag })).status, 206);
      assert.equal((await get(id, path, { range: 'bytes=0-1', 'if-range': '"other"' })).status, 200);
    });
  }

  test('a playlist is validated by its tag', async () => {
    const id = await add();
    for (const path of [MASTER, PLAYLIST, STORYBOARD]) {
      const etag = (await get(id, path)).headers.get('etag') ?? '';
      assert.equal((await get(id, path, { 'if-none-match': etag })).status, 304, path);
    }
  });

  test('preflights pass', async () => {
    const id = await add();
    const headers = {
      origin: 'https://player.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'range',
    };
    for (const path of FILES) assert.equal((await get(id, path, headers, 'OPTIONS')).status, 204, path);
  });

  test('other objects of the store have no URL', async () => {
    const id = await add();
    const { store } = app.container;
    const base = `w/${account.live}/v/${id}`;
    for (const name of [
      'original/upl_1',
      `${FOLDER}/360p/secret.txt`,
      'r0a2/360p/s_00000.m4s',
      `${FOLDER}/img/x.jpg`,
    ]) {
      await store.put(`${base}/${name}`, 'secret', 'text/plain');
      assert.equal((await get(id, name)).status, 404, name);
    }
    const climbs = [
      '..%2f..%2f..%2fsecret',
      `${FOLDER}/360p/..%2f1080p%2fs_00000.m4s`,
      `${FOLDER}/360p/%2e%2e%2findex.m3u8`,
      `${FOLDER}/..%2f${FOLDER}%2f360p/s_00000.m4s`,
      `${FOLDER}%2f360p/x/s_00000.m4s`,
      `${FOLDER}/360p/s_00000.m4s%00`,
      `${FOLDER}/360p/s_00000.m4s/`,
      `thumbnails/..%2f${FOLDER}%2fimg%2fposter.jpg`,
      'thumbnails/null',
      'captions/.m3u8',
      'captions/x.vtt.m3u8',
      `${FOLDER}/img/..%2f360p%2finit.mp4`,
      `${FOLDER}/constructor/index.m3u8`,
    ];
    for (const path of climbs) assert.equal((await get(id, path)).status, 404, path);
    for (const other of ['vid_', 'x', '..', 'vid_0000000000000000000000000', '%00', 'A'.repeat(5000)]) {
      const { status } = await get(other, MASTER);
      assert.ok(status === 404 || status === 400, `${other.slice(0, 20)}: ${status}`);
    }
  });

  test('a chosen thumbnail has a separate URL', async () => {
    const id = await add({ thumbnail_file: 'thm_1.webp' });
    const put = (name: string) =>
      app.container.store.put(`w/${account.live}/v/${id}/thumbnails/${name}`, name, 'image/webp');
    await put('thm_1.webp');
    await put('thm_0.webp');
    assert.equal(await textOf(get(id, 'thumbnails/thm_1.webp')), 'thm_1.webp');
    assert.equal((await get(id, 'thumbnails/thm_0.webp')).status, 404);
  });
});

describe('access', () => {
  test('a deleted video gets 404 immediately for all its files', async () => {
    const id = await add();
    assert.deepEqual(await statuses(id, FILES), [200]);
    await app.container.db
      .updateTable('video')
      .set({ deleted_at: clock.now() })
      .where('id', '=', id)
      .execute();
    app.container.bus.publish(VIDEO_TOPIC, id);
    assert.deepEqual(await statuses(id, FILES), [404]);
  });

  for (const visibility of ['PRIVATE', 'FOLLOWERS', 'TIER', 'PURCHASE'] as const) {
    test(`${visibility}: files need the token of the video, which is passed to every URL`, async () => {
      const id = await add({ visibility });
      const other = await add({ visibility });
      const missing = await get('vid_00000000000000000000000000', MASTER);
      const refused = await get(id, MASTER);
      assert.deepEqual([refused.status, await refused.text()], [404, '']);
      const steady = (answer: Response) =>
        Object.fromEntries(
          [...answer.headers].filter(([name]) => name !== 'date' && name !== 'x-svc-request-id'),
        );
      assert.deepEqual(steady(refused), steady(missing), 'the bytes of one that does not exist');
      const query = `?token=${await tokenOf(id)}`;
      assert.deepEqual(await statuses(id, FILES), [404]);
      assert.deepEqual(await statuses(id, FILES, `?token=${await tokenOf(other)}`), [404]);
      assert.deepEqual(await statuses(id, FILES, `${query}x`), [404]);
      assert.deepEqual(await statuses(id, FILES, `${query}&token=1`), [404]);
      assert.deepEqual(await statuses(id, FILES, query), [200]);
      const master = await textOf(get(id, MASTER + query));
      assert.equal(master.split('.m3u8').length, master.split(`.m3u8${query}`).length);
      const keyframes = await textOf(get(id, PLAYLIST.replace('index', 'iframes') + query));
      assert.ok(keyframes.includes(`#EXT-X-BYTERANGE:9@0\ns_00000.m4s${query}\n`));
      const playlist = await textOf(get(id, PLAYLIST + query));
      assert.ok(playlist.includes(`#EXT-X-MAP:URI="init.mp4${query}"`));
      assert.ok(playlist.includes(`\ns_00000.m4s${query}\n#EXTINF`));
      assert.ok(
        (await textOf(get(id, STORYBOARD + query))).includes(`\nsb_001.jpg${query}#xywh=0,0,160,90\n`),
      );
      for (const path of FILES) {
        const { headers } = await get(id, path + query, {}, 'HEAD');
        assert.match(headers.get('cache-control') ?? '', /^private\b/, path);
      }
    });
  }

  test('withdrawn media becomes unavailable within five minutes for clients with a cached copy', async () => {
    const id = await add();
    const copies = await Promise.all(
      FILES.map(async (path) => {
        const { headers } = await get(id, path, {}, 'HEAD');
        const maxAge = /max-age=(\d+)/.exec(headers.get('cache-control') ?? '')?.[1] ?? '0';
        assert.ok(Number(maxAge) <= 300, `${path} is kept for ${maxAge} s`);
        return { path, headers: { 'if-none-match': headers.get('etag') ?? '' } };
      }),
    );
    const ask = (status: number) =>
      Promise.all(
        copies.map(async ({ path, headers }) => assert.equal((await get(id, path, headers)).status, status)),
      );
    await ask(304);
    const body = { visibility: 'PRIVATE' };
    (await app.request('PATCH', `/videos/${id}`, { key, body })).assertOk(200);
    await ask(404);
  });

  test('a token expires to the second, and returns its expiry', async () => {
    const id = await add({ visibility: 'PRIVATE' });
    const made = (
      await app.request('POST', `/videos/${id}/playback-tokens`, { key, body: { ttlSec: 60 } })
    ).assertOk(201);
    assert.equal(made.at('data.expiresAt'), new Date(clock.ms() + 60_000).toISOString());
    const query = `?token=${made.string('data.token')}`;
    clock.advance(59_999);
    assert.deepEqual(await statuses(id, FILES, query), [200]);
    clock.advance(1);
    assert.deepEqual(await statuses(id, FILES, query), [404]);
  });

  test('tokens of streams and videos are not interchangeable', async () => {
    const id = await add({ visibility: 'PRIVATE' });
    const stream = await app.request('POST', '/streams', {
      key,
      body: { title: 'x', visibility: 'PRIVATE' },
    });
    const foreign = new URL(stream.string('data.playbackUrl')).search;
    assert.deepEqual(await statuses(id, FILES, foreign), [404]);
  });

  test('a token is created for the own video with the right key and valid times', async () => {
    const id = await add({ visibility: 'PRIVATE' });
    const make = (body: object | undefined, by = key, video = id) =>
      app.request('POST', `/videos/${video}/playback-tokens`, { key: by, ...(body && { body }) });
    const made = (await make(undefined)).assertOk(201);
    assert.equal(made.at('data.expiresAt'), new Date(clock.ms() + 43_200_000).toISOString());
    for (const [name, path] of [
      ['playbackUrl', `v/${id}/master.m3u8`],
      ['embedUrl', `embed/${id}`],
      ['watchUrl', `watch/${id}`],
    ] as const) {
      assert.equal(made.at(`data.${name}`), `http://marquee.test/${path}?token=${made.string('data.token')}`);
    }
    for (const ttlSec of [59, 604_801, 60.5, '60', null])
      (await make({ ttlSec })).assertError('BAD_REQUEST', 'ttlSec');
    const stranger = await app.createKey();
    (await make({}, stranger.key)).assertError('NOT_FOUND');
    (await make({}, key, 'vid_00000000000000000000000000')).assertError('NOT_FOUND');
    const reader = await app.createKey({ account, scope: 'STANDARD', permissions: ['videos:read'] });
    (await make({}, reader.key)).assertError('PERMISSION_DENIED');
  });
});

describe('an account that lists its sites', () => {
  let id: string;
  let listing: TestAccount;
  const SHOP = { origin: 'https://shop.example' };

  before(async () => {
    const made = await app.createKey();
    listing = made.account;
    const body = { mode: 'ALLOWLIST', domains: ['shop.example'] };
    (await app.request('PUT', '/me/embed-allowlist', { key: made.key, body })).assertOk(200);
    id = await add({}, listing);
  });

  const seen = async (headers: Record<string, string>, query = '') => {
    const answers = await Promise.all(MEDIA.map((path) => get(id, path + query, headers)));
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    const origins = answers.map((answer) => answer.headers.get('access-control-allow-origin'));
    return [[...new Set(answers.map(({ status }) => status))], [...new Set(origins)]];
  };

  test('a video plays on a listed site, and only scripts of that site may read it', async () => {
    assert.deepEqual(await seen(SHOP), [[200], ['https://shop.example']]);
    const { headers } = await get(id, SEGMENT, SHOP);
    assert.match(headers.get('vary') ?? '', /\bOrigin\b/);
    assert.match(headers.get('cache-control') ?? '', /^private\b/);
    assert.deepEqual(await seen({ referer: 'https://shop.example/a' }), [[200], [null]]);
  });

  test('a copied URL does not play on another site, even with the token of the page', async () => {
    const { token } = app.container.playbackTokens.mint('site', id, 60);
    for (const query of ['', `?token=${token}`]) {
      assert.deepEqual(await seen({ origin: 'https://evil.example' }, query), [[403], [null]]);
      assert.deepEqual(await seen({ referer: 'https://evil.example/' }, query), [[403], [null]]);
      assert.deepEqual(await seen({ origin: 'null' }, query), [[403], [null]]);
    }
    assert.deepEqual(await seen({}), [[403], [null]]);
    assert.deepEqual(await seen({}, `?token=${token}`), [[200], [null]]);
  });

  test('the platform’s own pages play it', async () => {
    assert.deepEqual(await seen({ referer: 'http://marquee.test/embed/x' }), [[200], [null]]);
    assert.deepEqual(await seen({ referer: `${app.url}/embed/x` }), [[200], [null]]);
  });

  test('images of the video are available to link previews everywhere', async () => {
    assert.equal((await get(id, POSTER, { origin: 'https://evil.example' })).status, 200);
  });

  test('the token of a page grants no access to restricted media', async () => {
    const hidden = await add({ visibility: 'PRIVATE' }, listing);
    const { token } = app.container.playbackTokens.mint('site', hidden, 60);
    assert.deepEqual(await statuses(hidden, FILES, `?token=${token}`), [404]);
  });
});
