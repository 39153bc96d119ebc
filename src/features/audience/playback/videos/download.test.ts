import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, mock, test } from 'node:test';
import { promisify } from 'node:util';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import { TestClock } from '../../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import {
  addVideo,
  encodedFiles,
  madeUpFiles,
  type VideoFixture,
} from '../../../../../test/videos/fixture.ts';
import { VIDEO_TOPIC } from '../../../video/videos/with-locked-video.ts';

const run = promisify(execFile);
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let account: TestAccount;
let key: string;
let dir: string;
let encoded: VideoFixture;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'marquee-download-'));
  [app, encoded] = await Promise.all([startTestApp({ clock }), encodedFiles()]);
  ({ account, key } = await app.createKey());
});
after(async () => {
  await app.close();
  await rm(dir, { recursive: true, force: true });
});

const ask = (id: string, query = '', options: { key?: string } = {}) =>
  app.request('GET', `/videos/${id}/download${query}`, { key, ...options });
const linkOf = async (id: string, query = '') => {
  const url = new URL((await ask(id, query)).assertOk(200).string('data.url'));
  return `${app.url}${url.pathname}${url.search}`;
};
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

test('a rendition with audio downloads as one MP4, whole or in ranges', async () => {
  const id = await addVideo(app.container, account, encoded, { title: 'Abend: „Köln“ 1/2' });
  const answer = (await ask(id, '?rendition=180p')).assertOk(200);
  assert.equal(answer.at('data.filename'), 'Abend „Köln“ 1 2.mp4');
  assert.equal(answer.at('data.expiresAt'), '2026-11-20T10:00:00.000Z');
  const link = await linkOf(id, '?rendition=180p');
  const file = await fetch(link);
  const whole = await bytesOf(file);
  assert.equal(file.headers.get('content-type'), 'video/mp4');
  assert.equal(file.headers.get('content-length'), String(whole.length));
  assert.equal(
    file.headers.get('content-disposition'),
    `attachment; filename="Abend _K_ln_ 1 2.mp4"; filename*=UTF-8''Abend%20%E2%80%9EK%C3%B6ln%E2%80%9C%201%202.mp4`,
  );
  assert.match(file.headers.get('cache-control') ?? '', /^private/);

  const path = join(dir, 'joined.mp4');
  await writeFile(path, whole);
  const probe = ['-v', 'error', '-count_frames', '-show_entries', 'stream=codec_name,width,nb_read_frames'];
  const { stdout, stderr } = await run('ffprobe', [...probe, '-of', 'csv=p=0', path]);
  assert.match(stdout, /^h264,320,120\naac,56\d\s*$/);
  assert.equal(stderr, '');

  for (const [start, end] of [
    [0, 99],
    [900, 70_000],
    [whole.length - 300, whole.length - 1],
  ] as const) {
    const part = await fetch(link, { headers: { range: `bytes=${start}-${end}` } });
    assert.equal(part.status, 206);
    assert.ok((await bytesOf(part)).equals(whole.subarray(start, end + 1)), `${start} to ${end}`);
  }
  const list = mock.method(app.container.store, 'list');
  for (const range of ['bytes=0-0', 'bytes=9-9', 'bytes=5000-']) {
    await bytesOf(await fetch(link, { headers: { range } }));
  }
  assert.equal(list.mock.callCount(), 0, 'its folders are looked at once');
  list.mock.restore();
  const etag = file.headers.get('etag') ?? '';
  assert.equal((await fetch(link, { headers: { 'if-none-match': etag } })).status, 304);
  const head = await fetch(link, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(whole.length)]);
});

test('a rendition contains the stereo audio and not the surround track of the same audio', async () => {
  const { renditions } = encoded;
  const stereo = renditions.find(({ kind }) => kind === 'AUDIO');
  assert.ok(stereo !== undefined);
  const others = [...stereo.files].map(([name, bytes]) => [name, Buffer.concat([bytes, bytes])] as const);
  const surround = { ...stereo, name: 'a-surround', files: new Map(others) };
  const sound = { track: 0, label: 'Main', channels: 6 };
  // The database returns rows of one height in any order: here this one comes first by name and creation
  // time.
  const both = { ...encoded, renditions: [{ ...surround, sound }, ...renditions] };
  const [plain, withBoth] = await Promise.all(
    [encoded, both].map((one) => addVideo(app.container, account, one)),
  );
  const download = async (id = '') => bytesOf(await fetch(await linkOf(id, '?rendition=180p')));
  assert.ok((await download(withBoth)).equals(await download(plain)));
});

test('the original downloads unchanged, with the file extension of its type', async () => {
  const originalKey = `w/${account.live}/o/film`;
  const id = await addVideo(app.container, account, madeUpFiles(), { original_key: originalKey });
  assert.equal((await ask(id)).assertError('CONFLICT').status, 409, 'its file has not come');
  const film = Buffer.concat([Buffer.from('1a45dfa3', 'hex'), Buffer.alloc(5000, 'matroska')]);
  await app.container.store.put(originalKey, film, 'application/octet-stream');
  assert.equal((await ask(id)).at('data.contentType'), 'video/x-matroska');
  const link = await linkOf(id);
  const file = await fetch(link, { headers: { range: 'bytes=1000-' } });
  assert.deepEqual([file.status, file.headers.get('content-range')], [206, 'bytes 1000-5003/5004']);
  assert.match(file.headers.get('content-disposition') ?? '', /filename="Evening concert\.mkv"/);
  assert.ok((await bytesOf(file)).equals(film.subarray(1000)));
});

test('a link is valid for one file of one video until it expires or the video is deleted', async () => {
  const id = await addVideo(app.container, account, encoded, { visibility: 'PRIVATE' });
  const other = await addVideo(app.container, account, madeUpFiles());
  const link = await linkOf(id, '?rendition=180p&ttlSec=60');
  const status = async (url: string) => (await fetch(url, { method: 'HEAD' })).status;
  assert.equal(await status(link), 200);
  for (const wrong of [
    link.replace('/180p', '/360p'),
    link.replace('/180p', '/original'),
    link.replace(id, other),
    link.replace('/download/180p', '/master.m3u8'),
    link.slice(0, -1),
    link.split('?')[0] ?? '',
    `${link}&token=1`,
  ]) {
    assert.equal(await status(wrong), 404, wrong);
  }
  clock.advance(60_000);
  assert.equal(await status(link), 404, 'it is over');
  const later = await linkOf(id, '?rendition=180p');
  await app.container.db.updateTable('video').set({ deleted_at: clock.now() }).where('id', '=', id).execute();
  app.container.bus.publish(VIDEO_TOPIC, id);
  assert.equal(await status(later), 404, 'the video is deleted');
});

test('an unavailable download is rejected with an explanation', async () => {
  const id = await addVideo(app.container, account, madeUpFiles());
  const unknown = (await ask(id, '?rendition=720p')).assertError('BAD_REQUEST', 'rendition');
  assert.match(unknown.string('error.message'), /original, 1080p, 360p/);
  (await ask(id, '?ttlSec=1')).assertError('BAD_REQUEST', 'ttlSec');
  const stranger = await app.createKey();
  (await ask(id, '', { key: stranger.key })).assertError('NOT_FOUND');
});
