import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import { TestClock } from '../../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../../test/harness/factories.ts';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { createPackagedStream } from '../../../../../test/streams/packaged-stream.ts';
import { addVideo, madeUpFiles } from '../../../../../test/videos/fixture.ts';
import { newId } from '../../../../kernel/ids.ts';

const SEGMENT_MS = 2000;
const PLAYLIST = 'src/index.m3u8';
const INIT = 'e1/src/init.mp4';
const LAST = 'e1/src/s_000003.m4s';
const anna = { headers: { 'user-agent': 'Anna' } };
const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let account: TestAccount;

before(async () => {
  app = await startTestApp({ clock });
  ({ key, account } = await app.createKey());
});
after(() => app.close());

/** Starts a broadcast that has lasted a segment and a half. */
async function broadcast(settings: object = {}) {
  const stream = await createPackagedStream({ app, key, clock }, settings);
  await stream.act('start');
  clock.advance(SEGMENT_MS);
  await stream.add();
  clock.advance(SEGMENT_MS / 2);
  const read = async (init: RequestInit = anna, query = '') => {
    const answer = await stream.get(PLAYLIST + query, init);
    return answer.status === 200 ? answer.text() : answer.status;
  };
  return { ...stream, playlist: read };
}

const segmentsOf = (playlist: string | number) => String(playlist).match(/s_\d+(?=\.m4s)/g) ?? [];

test('a current viewer sees the broadcast to its end, and nothing after it', async () => {
  const stream = await broadcast();
  const during = await stream.playlist();
  assert.doesNotMatch(String(during), /ENDLIST/);
  await stream.act('stop');
  assert.equal((await stream.get('master.m3u8', anna)).status, 404);
  // The segment in which it ended is still being written.
  assert.deepEqual(await stream.playlist(), during);
  clock.advance(SEGMENT_MS / 2);
  await stream.add();
  clock.advance(SEGMENT_MS);
  await stream.add();
  const rest = String(await stream.playlist());
  assert.deepEqual(segmentsOf(rest), ['s_000002', 's_000003', 's_000004']);
  assert.match(rest, /s_000004\.m4s\n#EXT-X-ENDLIST\n$/);
  for (const path of [INIT, LAST, 'e1/src/s_000004.m4s']) {
    assert.equal((await stream.get(path, anna)).status, 200, path);
  }
  assert.equal((await stream.get('e1/src/s_000005.m4s', anna)).status, 404, 'the signal goes on');
  assert.equal((await stream.get('e1/src/s_000001.m4s', anna)).status, 404, 'from before the start');
});

test('other viewers get 404 after the stop, and current viewers after 15 seconds', async () => {
  const stream = await broadcast();
  await stream.playlist();
  await stream.get('master.m3u8', { headers: { 'user-agent': 'Only the master' } });
  await stream.act('stop');
  for (const agent of ['Berta', 'Only the master', '']) {
    for (const path of ['master.m3u8', PLAYLIST, INIT, LAST]) {
      const { status } = await stream.get(path, { headers: { 'user-agent': agent } });
      assert.equal(status, 404, `${agent} ${path}`);
    }
  }
  clock.advance(14_000);
  assert.match(String(await stream.playlist()), /ENDLIST/);
  assert.equal((await stream.get(LAST, anna)).status, 200);
  clock.advance(1000);
  for (const path of [PLAYLIST, INIT, LAST]) assert.equal((await stream.get(path, anna)).status, 404, path);
});

test('a viewer who stopped watching ten seconds before the end gets 404', async () => {
  const stream = await broadcast();
  await stream.playlist();
  clock.advance(10_001);
  await stream.act('stop');
  assert.equal(await stream.playlist(), 404);
});

test('the playlist ends soon when the rest of the last segment is missing', async () => {
  const stream = await broadcast();
  await stream.playlist();
  await stream.act('stop');
  await stream.end(stream.session, 'unpublish');
  assert.doesNotMatch(String(await stream.playlist()), /ENDLIST/);
  clock.advance(2000);
  assert.match(String(await stream.playlist()), /s_000003\.m4s\n#EXT-X-ENDLIST\n$/);
});

test('the ending needs a token that is still valid', async () => {
  const stream = await broadcast({ visibility: 'PRIVATE' });
  const token = new URL(String(await stream.read('playbackUrl'))).search;
  assert.notEqual(await stream.playlist(anna, token), 404);
  await stream.act('stop');
  assert.match(String(await stream.playlist(anna, token)), /s_000003\.m4s\?token=/);
  assert.equal((await stream.get(LAST + token, anna)).status, 200);
  const own = await app.request('POST', `/streams/${stream.id}/playback-tokens`, { key, body: {} });
  const other = `?token=${own.assertOk(201).string('data.token')}`;
  for (const query of ['', other, `${token}x`]) {
    assert.equal(await stream.playlist(anna, query), 404);
    assert.equal((await stream.get(LAST + query, anna)).status, 404);
  }
});

test('a stream that becomes private or is deleted has no ending', async () => {
  const hidden = await broadcast();
  await hidden.playlist();
  await hidden.act('stop');
  const body = { visibility: 'PRIVATE' };
  (await app.request('PATCH', `/streams/${hidden.id}`, { key, body })).assertOk(200);
  assert.equal(await hidden.playlist(), 404);
  const deleted = await broadcast();
  await deleted.playlist();
  await deleted.act('stop');
  (await app.request('DELETE', `/streams/${deleted.id}`, { key })).assertOk(200);
  assert.equal(await deleted.playlist(), 404);
});

test('the page of the stream links to the recording', async () => {
  const stream = await broadcast();
  await stream.act('stop');
  const page = async () => (await fetch(`${app.url}/watch/${stream.id}`)).text();
  assert.match(await page(), /The broadcast has ended\./);
  const videoId = await addVideo(app.container, account, madeUpFiles(), { visibility: 'PUBLIC' });
  const recording = { workspace_id: account.live, stream_id: stream.id, video_id: videoId };
  const session_id = (await stream.sessions()).string('data.0.id');
  await app.container.db
    .insertInto('recording')
    .values({ ...recording, id: newId('rec'), session_id, created_at: clock.now() })
    .execute();
  await waitFor(async () => (await page()).includes(`/watch/${videoId}">Watch the recording</a>`));
  await stream.act('start');
  assert.doesNotMatch(await page(), /Watch the recording/);
});

test('the next broadcast takes over immediately', async () => {
  const stream = await broadcast();
  await stream.playlist();
  await stream.act('stop');
  clock.advance(SEGMENT_MS);
  await stream.add();
  await stream.act('start');
  assert.equal((await stream.get('master.m3u8', anna)).status, 200);
  assert.doesNotMatch(String(await stream.playlist()), /ENDLIST/);
});
