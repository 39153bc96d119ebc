import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { insertReadyVideo, videoEvents } from '../../../../test/harness/videos.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp({ clock });
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const post = (path: string, body?: object, by = key) => app.request('POST', path, { key: by, body });
const patch = (id: string, body: object) => app.request('PATCH', `/videos/${id}`, { key, body });
const read = (id: string) => app.request('GET', `/videos/${id}`, { key });
const eventsOf = (id: string) => videoEvents(app.container.db, id);
const typesOf = async (id: string) => (await eventsOf(id)).map(({ type }) => type);

async function createVideo(body: object = {}): Promise<string> {
  return (await post('/videos', { title: 'A video', ...body })).assertOk(201).string('data.id');
}

const newTier = async (name: string) =>
  (await post('/tiers', { name, priceCents: 500, interval: 'MONTH' })).assertOk(201).string('data.id');

const ready = (columns: Parameters<typeof insertReadyVideo>[2] = {}) =>
  insertReadyVideo(app.container.db, account.live, columns);

const ID = /^vid_[0-9a-hjkmnp-tv-z]{26}$/;

describe('POST /videos', () => {
  test('201 with the whole resource, its defaults, and the upload session', async () => {
    const created = (await post('/videos', { title: 'First', filename: 'first.mov', sizeBytes: 5000 }))
      .assertOk(201)
      .assertRateLimited(true);
    const id = created.string('data.id');
    assert.match(id, ID);
    const { upload, ...video } = Object(created.at('data'));
    const now = '2026-11-20T09:00:00.000Z';
    assert.deepEqual(video, {
      id,
      title: 'First',
      description: null,
      status: 'UPLOADING',
      visibility: 'PUBLIC',
      tierIds: [],
      priceCents: null,
      currency: 'USD',
      tags: [],
      metadata: {},
      externalId: null,
      durationSec: null,
      width: null,
      height: null,
      frameRate: null,
      sizeBytes: null,
      aspectRatio: null,
      progressPercent: 0,
      error: null,
      source: 'UPLOAD',
      uploadId: upload.id,
      importId: null,
      streamId: null,
      thumbnailUrl: null,
      previewUrl: null,
      storyboardUrl: null,
      playbackUrl: null,
      embedUrl: `http://marquee.test/embed/${id}`,
      renditions: [],
      pendingRenditions: [],
      audioTracks: [],
      captions: [],
      chapters: [],
      processing: { notes: [] },
      replacement: null,
      viewCount: 0,
      publishedAt: null,
      publishAt: null,
      takedown: null,
      createdAt: now,
      updatedAt: now,
      mode: 'live',
    });
    assert.equal(upload.videoId, id);
    assert.equal(upload.status, 'WAITING');
    assert.equal(upload.filename, 'first.mov');
    assert.equal(upload.sizeBytes, 5000);
    assert.deepEqual((await read(id)).at('data'), video);
  });

  test('every setting is stored as sent', async () => {
    const settings = {
      title: `${'🎬'.repeat(199)}x`,
      description: 'Line one\nline two',
      visibility: 'PURCHASE',
      tierIds: [await newTier('Gold'), await newTier('Silver')],
      priceCents: 499,
      currency: 'USD',
      tags: ['music', 'Ünïcode, with a comma'],
      metadata: { 'a key\nof two lines': 'value', constructor: 'a name like another' },
      externalId: 'ext-1',
    };
    const chapters = [
      { startSec: 60.5, title: 'Second' },
      { startSec: 0, title: 'First' },
    ];
    const id = await createVideo({ ...settings, chapters, nonsense: true, status: 'READY', id: 'vid_mine' });
    const video = await read(id);
    for (const [name, value] of Object.entries(settings)) assert.deepEqual(video.at(`data.${name}`), value);
    assert.deepEqual(video.at('data.chapters'), chapters.toReversed());
    assert.equal(video.at('data.status'), 'UPLOADING');
    const [created, ...more] = await eventsOf(id);
    assert.deepEqual(more, []);
    assert.deepEqual(created?.data, {
      videoId: id,
      title: settings.title,
      status: 'UPLOADING',
      visibility: 'PURCHASE',
      externalId: 'ext-1',
      source: 'UPLOAD',
      sequence: 1,
    });
  });

  test('an upload without a length waits for the client to send it', async () => {
    const created = (await post('/videos', { title: 'A title' })).assertOk(201);
    assert.equal(created.at('data.upload.sizeBytes'), null);
    assert.equal(created.at('data.upload.filename'), 'A title');
    assert.equal(created.at('data.upload.id'), created.at('data.uploadId'));
  });

  test('the storage is reserved; a video that exceeds the quota is rejected and leaves nothing', async () => {
    const small = await app.createKey({ account: await app.createAccount({ plan: 'FREE' }) });
    const body = { title: 'Big', sizeBytes: 6 * 2 ** 30 };
    const first = (await post('/videos', body, small.key)).assertOk(201).string('data.id');
    (await post('/videos', body, small.key)).assertError('QUOTA_EXCEEDED');
    const list = await app.request('GET', '/videos', { key: small.key });
    assert.equal(list.list('data').length, 1);
    (await app.request('DELETE', `/videos/${first}`, { key: small.key })).assertOk(200);
    (await post('/videos', body, small.key)).assertOk(201);
  });

  const long = 'x'.repeat(501);
  const refused: [name: string, body: unknown, field: string][] = [
    ['no body', undefined, 'body'],
    ['no title', {}, 'title'],
    ['a blank title', { title: '   ' }, 'title'],
    ['a long title', { title: 'x'.repeat(201) }, 'title'],
    ['a title that is null', { title: null }, 'title'],
    ['a long description', { title: 'A', description: 'x'.repeat(5001) }, 'description'],
    ['an unknown visibility', { title: 'A', visibility: 'public' }, 'visibility'],
    ['PURCHASE without a price', { title: 'A', visibility: 'PURCHASE' }, 'priceCents'],
    ['a price of nothing', { title: 'A', priceCents: 0 }, 'priceCents'],
    ['a broken price', { title: 'A', priceCents: 1.5 }, 'priceCents'],
    ['a price as text', { title: 'A', priceCents: '100' }, 'priceCents'],
    ['another currency', { title: 'A', currency: 'EUR' }, 'currency'],
    ['many tags', { title: 'A', tags: Array.from({ length: 31 }, (_, i) => `t${i}`) }, 'tags'],
    ['a tag twice', { title: 'A', tags: ['a', 'b', 'a'] }, 'tags'],
    ['a blank tag', { title: 'A', tags: [' '] }, 'tags.0'],
    ['a tag that is no text', { title: 'A', tags: ['a', 1] }, 'tags.1'],
    ['many tiers', { title: 'A', tierIds: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 'tierIds'],
    ['a long tier', { title: 'A', tierIds: ['x'.repeat(65)] }, 'tierIds.0'],
    ['long metadata', { title: 'A', metadata: { a: long } }, 'metadata.a'],
    ['metadata that is no text', { title: 'A', metadata: { a: 1 } }, 'metadata.a'],
    ['a long external id', { title: 'A', externalId: 'x'.repeat(256) }, 'externalId'],
    ['chapters without a title', { title: 'A', chapters: [{ startSec: 0 }] }, 'chapters.0.title'],
    [
      'a chapter before the start',
      { title: 'A', chapters: [{ startSec: -1, title: 'A' }] },
      'chapters.0.startSec',
    ],
    [
      'two chapters at one second',
      {
        title: 'A',
        chapters: [
          { startSec: 5, title: 'A' },
          { startSec: 1, title: 'B' },
          { startSec: 5, title: 'C' },
        ],
      },
      'chapters.2.startSec',
    ],
    [
      'many chapters',
      { title: 'A', chapters: Array.from({ length: 201 }, (_, i) => ({ startSec: i, title: 'A' })) },
      'chapters',
    ],
    ['a size of nothing', { title: 'A', sizeBytes: 0 }, 'sizeBytes'],
    ['a file of more than 100 GB', { title: 'A', sizeBytes: 100 * 2 ** 30 + 1 }, 'sizeBytes'],
    ['an origin that is none', { title: 'A', corsOrigin: 'example.com/path' }, 'corsOrigin'],
    ['a publication in the past', { title: 'A', publishAt: '2026-11-20T08:59:59Z' }, 'publishAt'],
    ['a publication in years', { title: 'A', publishAt: '2028-01-01T00:00:00Z' }, 'publishAt'],
    ['a date as publication', { title: 'A', publishAt: '2026-12-01' }, 'publishAt'],
    [
      'a publication of what is visible',
      { title: 'A', visibility: 'UNLISTED', publishAt: '2026-12-01T00:00:00Z' },
      'publishAt',
    ],
    ['NUL in the title', '{"title":"a\\u0000b"}', 'title'],
  ];
  for (const [name, body, field] of refused) {
    test(`400 for ${name}`, async () => {
      (await app.request('POST', '/videos', { key, body })).assertError('BAD_REQUEST', field);
    });
  }
});

describe('GET, PATCH and DELETE /videos/{id}', () => {
  test('a ready video has its URLs and its playable renditions, highest first', async () => {
    const id = await ready({ title: 'Ready' });
    const video = (await read(id)).assertOk(200);
    assert.equal(video.at('data.status'), 'READY');
    assert.equal(video.at('data.aspectRatio'), '16:9');
    assert.equal(video.at('data.progressPercent'), 100);
    assert.equal(video.at('data.playbackUrl'), `http://marquee.test/v/${id}/master.m3u8`);
    assert.equal(video.at('data.thumbnailUrl'), `http://marquee.test/v/${id}/r0a1/img/poster.jpg`);
    assert.deepEqual(video.at('data.renditions'), [
      { name: '1080p', codec: 'H264', width: 1920, height: 1080, bitrate: 3_240_000, frameRate: 30 },
      { name: '360p', codec: 'H264', width: 640, height: 360, bitrate: 1_080_000, frameRate: 30 },
    ]);
  });

  test('renditions of another revision, audio renditions and pending ones are hidden', async () => {
    const id = await ready({ revision: 1 });
    const { db } = app.container;
    const row = { video_id: id, revision: 1, status: 'READY' } as const;
    await db
      .insertInto('video_rendition')
      .values([
        { ...row, name: 'audio', kind: 'AUDIO' },
        { ...row, name: '720p', kind: 'VIDEO', status: 'PENDING' },
      ])
      .execute();
    const video = (await read(id)).assertOk(200);
    assert.deepEqual(video.at('data.renditions'), []);
    assert.deepEqual(video.at('data.pendingRenditions'), []);
    assert.equal(video.at('data.playbackUrl'), null);
  });

  test('while a video is processed, each rendition reports its progress, highest first', async () => {
    const id = await ready({ title: 'Half made', status: 'PROCESSING' });
    const row = { video_id: id, revision: 0, kind: 'VIDEO', frame_rate: 30 } as const;
    await app.container.db
      .insertInto('video_rendition')
      .values([
        { ...row, name: '240p', status: 'PENDING', width: 426, height: 240 },
        { ...row, name: '720p', status: 'PROCESSING', width: 1280, height: 720, progress_percent: 41.7 },
        { ...row, name: 'audio', kind: 'AUDIO', status: 'PENDING' },
      ])
      .execute();
    const video = (await read(id)).assertOk(200);
    assert.deepEqual(video.at('data.pendingRenditions'), [
      { name: '720p', width: 1280, height: 720, progressPercent: 41 },
      { name: '240p', width: 426, height: 240, progressPercent: 0 },
    ]);
    const names = video.list('data.renditions').map((rendition) => Object(rendition).name);
    assert.deepEqual(names, ['1080p', '360p']);
  });

  test('a change emits an event with the old and the new values', async () => {
    const id = await createVideo({ title: 'Old', tags: ['a'], metadata: { a: '1' } });
    clock.advance(1000);
    const body = { title: 'New', tags: ['a'], metadata: { a: '2' }, description: null };
    const changed = (await patch(id, body)).assertOk(200);
    assert.equal(changed.at('data.title'), 'New');
    assert.notEqual(changed.at('data.updatedAt'), changed.at('data.createdAt'));
    const { type, data } = (await eventsOf(id)).at(-1) ?? { type: '', data: {} };
    assert.equal(type, 'video.updated');
    assert.deepEqual(data, {
      videoId: id,
      title: 'New',
      status: 'UPLOADING',
      visibility: 'PUBLIC',
      externalId: null,
      source: 'UPLOAD',
      changes: { title: { from: 'Old', to: 'New' }, metadata: { from: { a: '1' }, to: { a: '2' } } },
      sequence: 2,
    });
  });

  test('an update without a change emits no event and leaves updatedAt unchanged', async () => {
    const chapters = [{ startSec: 1, title: 'One' }];
    const id = await createVideo({ title: 'Same', chapters, metadata: { a: '1', b: '2' } });
    clock.advance(1000);
    for (const body of [
      {},
      { title: 'Same' },
      { chapters },
      { metadata: { b: '2', a: '1' } },
      { other: 1 },
    ]) {
      const same = (await patch(id, body)).assertOk(200);
      assert.equal(same.at('data.updatedAt'), same.at('data.createdAt'));
    }
    assert.deepEqual(await typesOf(id), ['video.created']);
  });

  test('a price requires PURCHASE, whichever of the two is changed', async () => {
    const id = await createVideo();
    (await patch(id, { visibility: 'PURCHASE' })).assertError('BAD_REQUEST', 'priceCents');
    (await patch(id, { visibility: 'PURCHASE', priceCents: 100 })).assertOk(200);
    (await patch(id, { priceCents: null })).assertError('BAD_REQUEST', 'priceCents');
    (await patch(id, { priceCents: null, visibility: 'TIER', tierIds: [] })).assertOk(200);
    (await patch(id, { tierIds: ['a'] })).assertError('BAD_REQUEST', 'tierIds.0');
    // A stream has no price for its recordings: it is set later, and until then other fields can be changed.
    const recorded = await ready({ visibility: 'PURCHASE', source: 'RECORDING' });
    (await patch(recorded, { title: 'Another' })).assertOk(200);
    (await patch(recorded, { priceCents: 100 })).assertOk(200);
  });

  test('chapters start before the end', async () => {
    const id = await ready();
    const at = (startSec: number) => patch(id, { chapters: [{ startSec, title: 'A' }] });
    (await at(60)).assertError('BAD_REQUEST', 'chapters.0.startSec');
    assert.deepEqual((await at(59.9)).assertOk(200).at('data.chapters'), [{ startSec: 59.9, title: 'A' }]);
    (await patch(id, { chapters: [] })).assertOk(200);
  });

  test('DELETE hides the video everywhere, releases its storage, and ends its upload', async () => {
    const created = await post('/videos', { title: 'Short-lived', sizeBytes: 1000 });
    const id = created.assertOk(201).string('data.id');
    const used = async () => {
      const [row] = await app.container
        .sql`select storage_bytes as bytes from workspace where id = ${account.live}`;
      return Number(row?.bytes);
    };
    const before = await used();
    const removed = await app.request('DELETE', `/videos/${id}`, { key });
    assert.deepEqual(removed.assertOk(200).at('data'), { id, deleted: true });
    assert.equal(await used(), before - 1000);
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { title: 'A' }],
      ['DELETE', ''],
      ['POST', '/publish'],
      ['POST', '/unpublish'],
      ['POST', '/retry'],
      ['GET', '/captions'],
      ['POST', '/captions', { language: 'en', content: 'WEBVTT\n\n00:01.000 --> 00:02.000\nHi' }],
      ['DELETE', '/captions/en'],
      ['PUT', '/thumbnail', { atSec: 1 }],
      ['DELETE', '/thumbnail'],
      ['GET', '/related'],
      ['POST', '/views'],
    ];
    for (const [method, path, body] of calls) {
      (await app.request(method, `/videos/${id}${path}`, { key, body })).assertError('NOT_FOUND');
    }
    assert.equal((await app.request('GET', '/videos?limit=100', { key })).text.includes(id), false);
    const upload = await app.container.db
      .selectFrom('upload')
      .selectAll()
      .where('video_id', '=', id)
      .execute();
    assert.deepEqual(
      upload.map(({ status }) => status),
      ['CANCELED'],
    );
    const { data, type } = (await eventsOf(id)).at(-1) ?? { type: '', data: {} };
    assert.equal(type, 'video.deleted');
    assert.deepEqual(data, { videoId: id, deletedAt: clock.now().toISOString(), sequence: 2 });
  });

  test('one of twenty concurrent deletions succeeds', async () => {
    const id = await createVideo({ sizeBytes: 500 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => app.request('DELETE', `/videos/${id}`, { key })),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 404)]);
    assert.deepEqual(await typesOf(id), ['video.created', 'video.deleted']);
  });

  test('concurrent changes emit events in order, each with the values it replaced', async () => {
    const id = await createVideo({ title: 'T0' });
    await Promise.all(Array.from({ length: 10 }, (_, i) => patch(id, { title: `T${i + 1}` })));
    const updates = (await eventsOf(id)).filter(({ type }) => type === 'video.updated');
    assert.deepEqual(
      updates.map(({ data }) => data.sequence),
      Array.from({ length: 10 }, (_, i) => i + 2),
    );
    let title = 'T0';
    for (const { data } of updates) {
      const { from, to } = Object(data.changes).title;
      assert.equal(from, title);
      title = to;
    }
    assert.equal((await read(id)).at('data.title'), title);
  });
});
