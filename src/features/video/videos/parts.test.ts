import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { insertReadyVideo, videoEvents } from '../../../../test/harness/videos.ts';

let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp();
  ({ key, account } = await app.createKey());
});
after(() => app.close());

const VTT = 'WEBVTT\n\n00:01.000 --> 00:02.000\n<script>Hello</script>\n';
const ready = (columns: object = {}) => insertReadyVideo(app.container.db, account.live, columns);
const send = (id: string, body: object) => app.request('POST', `/videos/${id}/captions`, { key, body });
const list = (id: string) => app.request('GET', `/videos/${id}/captions`, { key });

/** Returns the stored caption files of the video. */
async function filesOf(id: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { key: name } of app.container.store.list(`w/${account.live}/v/${id}/captions/`)) {
    names.push(name.split('/').at(-1) ?? '');
  }
  return names;
}

/** Builds a multipart body as sent by a browser: the fields, then the file. */
function form(fields: Record<string, string>, file: string | Uint8Array, name = 'file') {
  const boundary = 'a-boundary-of-the-test';
  const parts = Object.entries(fields).map(
    ([field, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  );
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.srt"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(parts.join('') + head),
    Buffer.from(file),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { key, body, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
}

test('available audio is listed once per track, the default one first', async () => {
  const id = await ready();
  const row = { video_id: id, revision: 0, kind: 'AUDIO', status: 'READY' } as const;
  const english = { ...row, track: 0, language: 'en', label: 'English' };
  await app.container.db
    .insertInto('video_rendition')
    .values([
      { ...row, name: 'audio-1', track: 1, label: 'For the blind', channels: 2, is_description: true },
      { ...english, name: 'audio-surround', channels: 6 },
      { ...english, name: 'audio', channels: 2 },
      { ...row, name: 'audio-2', track: 2, label: 'To come', channels: 2, status: 'PENDING' },
    ])
    .execute();
  const video = await app.request('GET', `/videos/${id}`, { key });
  assert.deepEqual(video.at('data.audioTracks'), [
    { language: 'en', label: 'English', channels: 6, isDefault: true, isDescription: false },
    { language: null, label: 'For the blind', channels: 2, isDefault: false, isDescription: true },
  ]);
  const names = video.list('data.renditions').map((rendition) => Object(rendition).name);
  assert.deepEqual(names, ['1080p', '360p']);
});

describe('POST /videos/{id}/captions', () => {
  test('captions return 201, emit one event, are listed, and are served in their parsed form', async () => {
    const id = await ready();
    const made = (await send(id, { language: 'pt-br', content: VTT })).assertOk(201);
    const url = made.string('data.url');
    assert.deepEqual(made.at('data'), {
      language: 'pt-BR',
      label: 'português (Brasil)',
      url,
      isAuto: false,
      isDefault: false,
    });
    assert.match(url, new RegExp(`^http://marquee\\.test/v/${id}/captions/cap_[0-9a-z]{26}\\.vtt$`));
    assert.deepEqual((await list(id)).assertOk(200).list('data'), [made.at('data')]);
    const video = await app.request('GET', `/videos/${id}`, { key });
    assert.deepEqual(video.at('data.captions'), [made.at('data')]);
    const [file = ''] = await filesOf(id);
    assert.ok(url.endsWith(file));
    const stored = await app.container.store.read(`w/${account.live}/v/${id}/captions/${file}`);
    assert.equal(stored?.toString(), 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello\n');
    assert.deepEqual(
      (await videoEvents(app.container.db, id)).map(({ type, data }) => [type, data]),
      [['video.caption.ready', { videoId: id, language: 'pt-BR', isAuto: false, sequence: 1 }]],
    );
  });

  test('captions can be uploaded as a file with fields', async () => {
    const id = await ready();
    const srt = '1\n00:00:01,000 --> 00:00:02,000\nGrüße\n';
    const sent = await app.request(
      'POST',
      `/videos/${id}/captions`,
      form({ language: 'de', label: 'Für Gehörlose' }, srt),
    );
    assert.equal(sent.assertOk(201).at('data.label'), 'Für Gehörlose');
    assert.equal(sent.at('data.language'), 'de');
  });

  test('each language has one file: new captions replace the old ones, whose file is deleted', async () => {
    const id = await ready();
    const first = (await send(id, { language: 'en', content: VTT })).assertOk(201).string('data.url');
    const second = (await send(id, { language: 'EN', label: 'New', content: VTT })).assertOk(201);
    assert.notEqual(second.at('data.url'), first);
    (await send(id, { language: 'fr', content: VTT })).assertOk(201);
    const rows = (await list(id)).list('data');
    assert.equal(rows.length, 2);
    assert.equal((await filesOf(id)).length, 2);
    await Promise.all(
      Array.from({ length: 8 }, async () => (await send(id, { language: 'en', content: VTT })).assertOk(201)),
    );
    assert.equal((await list(id)).list('data').length, 2);
    assert.equal((await filesOf(id)).length, 2);
  });

  test('every language has a label', async () => {
    const id = await ready();
    const labels: [tag: string, label: string][] = [
      ['en', 'English'],
      ['en-x-private', 'English'],
      ['de-u-co-phonebk', 'Deutsch'],
      ['qaa', 'qaa'],
    ];
    for (const [language, label] of labels) {
      assert.equal((await send(id, { language, content: VTT })).assertOk(201).at('data.label'), label);
    }
    for (const language of ['zh-Hant-TW', 'sl-rozaj-biske-1994', 'und', 'mul']) {
      assert.notEqual((await send(id, { language, content: VTT })).assertOk(201).at('data.label'), '');
    }
  });

  test('a private video returns URLs with a token', async () => {
    const id = await ready({ visibility: 'PRIVATE' });
    const url = (await send(id, { language: 'en', content: VTT })).assertOk(201).string('data.url');
    assert.match(url, /\.vtt\?token=/);
  });

  const refused: [name: string, body: object, field: string][] = [
    ['no language', { content: VTT }, 'language'],
    ['no language tag', { language: 'en_US', content: VTT }, 'language'],
    ['a path', { language: '../../en', content: VTT }, 'language'],
    ['no captions', { language: 'en' }, 'content'],
    ['empty captions', { language: 'en', content: '' }, 'content'],
    ['other text', { language: 'en', content: 'Hello' }, 'content'],
    ['a blank label', { language: 'en', label: ' ', content: VTT }, 'label'],
  ];
  for (const [name, body, field] of refused) {
    test(`400 for ${name}`, async () => {
      const id = await ready();
      (await send(id, body)).assertError('BAD_REQUEST', field);
      assert.deepEqual(await filesOf(id), []);
    });
  }

  test('400 for a file that is not text, or has another name; 413 for a large one', async () => {
    const path = `/videos/${await ready()}/captions`;
    const post = (init: object) => app.request('POST', path, init);
    (await post(form({ language: 'en' }, Buffer.from([0xff, 0xfe, 0x41])))).assertError(
      'BAD_REQUEST',
      'file',
    );
    (await post(form({ language: 'en' }, VTT, 'captions'))).assertError('BAD_REQUEST', 'file');
    (await post(form({}, VTT))).assertError('BAD_REQUEST', 'language');
    (await post(form({ language: 'en', label: 'a\0b' }, VTT))).assertError('BAD_REQUEST', 'label');
    (await post(form({ language: 'en' }, 'x'.repeat(1_048_577)))).assertError('PAYLOAD_TOO_LARGE', 'file');
  });

  test('409 beyond 100 languages', async () => {
    const id = await ready();
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const tags = letters.flatMap((one) => letters.map((two) => `q${one}${two}`)).slice(0, 100);
    await app.container.db
      .insertInto('video_caption')
      .values(
        tags.map((language) => ({
          id: `cap_${language}`,
          video_id: id,
          language,
          label: '',
          file: language,
        })),
      )
      .execute();
    (await send(id, { language: 'en', content: VTT })).assertError('CONFLICT');
    assert.deepEqual(await filesOf(id), []);
    (await send(id, { language: tags[0] ?? '', content: VTT })).assertOk(201);
  });
});

describe('DELETE /videos/{id}/captions/{language}', () => {
  test('captions are deleted with their file, regardless of the case of the tag; then 404', async () => {
    const id = await ready();
    (await send(id, { language: 'pt-BR', content: VTT })).assertOk(201);
    const remove = (tag: string) => app.request('DELETE', `/videos/${id}/captions/${tag}`, { key });
    for (const tag of ['en', 'pt', 'p', '%2e%2e', 'x'.repeat(200)])
      (await remove(tag)).assertError('NOT_FOUND');
    assert.deepEqual((await remove('pt-br')).assertOk(200).at('data'), { id: 'pt-br', deleted: true });
    (await remove('pt-BR')).assertError('NOT_FOUND');
    assert.deepEqual((await list(id)).list('data'), []);
    assert.deepEqual(await filesOf(id), []);
  });
});

describe('the thumbnail', () => {
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const put = (id: string, init: object) => app.request('PUT', `/videos/${id}/thumbnail`, init);
  const remove = (id: string) => app.request('DELETE', `/videos/${id}/thumbnail`, { key });

  test('an image is converted to JPEG, replaces the poster, and can be removed again', async () => {
    const id = await ready();
    const poster = `http://marquee.test/v/${id}/r0a1/img/poster.jpg`;
    const chosen = (await put(id, form({}, PNG))).assertOk(200).string('data.thumbnailUrl');
    assert.match(chosen, new RegExp(`^http://marquee\\.test/v/${id}/thumbnails/[0-9a-f-]{36}\\.jpg$`));
    const file = (url: string) => `w/${account.live}/v/${id}/thumbnails/${url.split('/').at(-1)}`;
    const bytes = await app.container.store.read(file(chosen));
    assert.equal(bytes?.subarray(0, 3).toString('hex'), 'ffd8ff');
    const next = (await put(id, form({}, PNG))).assertOk(200).string('data.thumbnailUrl');
    assert.notEqual(next, chosen);
    assert.equal(await app.container.store.head(file(chosen)), null);
    assert.deepEqual((await remove(id)).assertOk(200).at('data'), { id, deleted: true });
    assert.equal(await app.container.store.head(file(next)), null);
    assert.equal((await app.request('GET', `/videos/${id}`, { key })).at('data.thumbnailUrl'), poster);
    (await remove(id)).assertError('NOT_FOUND');
  });

  test('a thumbnail from a moment of the video can be requested, and an uploaded image withdraws the request', async () => {
    const id = await ready();
    const waiting = async () => {
      const rows = await app.container.sql`
        select 1 from job where name = 'video.thumbnail' and state = 'waiting'
          and payload->>'videoId' = ${id}`;
      return rows.length;
    };
    (await put(id, { key, body: { atSec: 12.5 } })).assertOk(200);
    (await put(id, { key, body: { atSec: 13 } })).assertOk(200);
    assert.equal(await waiting(), 1);
    (await put(id, form({}, PNG))).assertOk(200);
    assert.equal(await waiting(), 0);
  });

  const refused: [name: string, init: object, field: string][] = [
    ['neither a picture nor a moment', { body: {} }, 'file'],
    ['no body', {}, 'file'],
    ['a moment before the start', { body: { atSec: -1 } }, 'atSec'],
    ['a moment behind the end', { body: { atSec: 60 } }, 'atSec'],
    ['a moment as text', { body: { atSec: '5' } }, 'atSec'],
    ['a page as a picture', form({}, '<svg onload="alert(1)"/>'), 'file'],
    ['half a picture', form({}, PNG.subarray(0, 40)), 'file'],
  ];
  for (const [name, init, field] of refused) {
    test(`400 for ${name}`, async () => {
      (await put(await ready(), { ...init, key })).assertError('BAD_REQUEST', field);
    });
  }

  test('409 for a moment of a video that is not ready; 413 for a large image', async () => {
    (await put(await ready({ status: 'PROCESSING' }), { key, body: { atSec: 1 } })).assertError('CONFLICT');
    const large = Buffer.alloc(5_242_881);
    PNG.copy(large);
    (await put(await ready(), form({}, large))).assertError('PAYLOAD_TOO_LARGE', 'file');
  });
});
