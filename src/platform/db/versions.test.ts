import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { insertReadyVideo } from '../../../test/harness/videos.ts';
import { createVersionedReader } from './versions.ts';

let app: TestApp;
let key: string;
const videos: string[] = [];
const streams: string[] = [];

before(async () => {
  app = await startTestApp();
  const made = await app.createKey({ rateLimitPerMinute: 1_000_000 });
  ({ key } = made);
  for (let n = 0; n < 3; n++) {
    videos.push(await insertReadyVideo(app.container.db, made.account.live, { title: `Video ${n}` }));
    const stream = await app.request('POST', '/streams', { key, body: { title: `Stream ${n}` } });
    streams.push(stream.assertOk(201).string('data.id'));
  }
});
after(() => app.close());

/** What changes a list, of a video and a stream; `$1` is the video's id and `$2` the stream's. */
const CHANGES = [
  'update video set view_count = view_count + 1 where id = $1 or id = $2',
  "update video set visibility = 'PRIVATE' where id = $1 or id = $2",
  "update video set visibility = 'PUBLIC' where id = $1 or id = $2",
  'update video set deleted_at = case when deleted_at is null then now() end where id = $1 or id = $2',
  'update video set revision = 1 - revision where id = $1 or id = $2',
  "update video_rendition set status = 'PENDING', progress_percent = progress_percent / 2 where video_id = $1 or video_id = $2",
  "update video_rendition set status = 'READY' where video_id = $1 and height = 360 or video_id = $2",
  'delete from video_rendition where video_id = $1 and height = 360 or video_id = $2',
  "insert into video_rendition (video_id, revision, name, kind, status, folder, width, height, frame_rate) select id, 0, '360p', 'VIDEO', 'READY', 'r0a1', 640, 360, 30 from video where id = $1 or id = $2 on conflict do nothing",
  "insert into video_caption (id, video_id, language, label, file) select 'cap_' || id, id, 'en', 'English', 'a.vtt' from video where id = $1 or id = $2 on conflict do nothing",
  "update video_caption set label = label || '.' where video_id = $1 or video_id = $2",
  'delete from video_caption where video_id = $1 or video_id = $2',
  'update stream set viewer_count = viewer_count + 1 where id = $2 or id = $1',
  "update stream set title = title || '.' where id = $2 or id = $1",
  'update stream set has_signal = not has_signal where id = $2 or id = $1',
  "update stream set visibility = case visibility when 'PUBLIC' then 'PRIVATE' else 'PUBLIC' end where id = $2 or id = $1",
  'update stream set deleted_at = case when deleted_at is null then now() end where id = $2 or id = $1',
];

const change = fc.record({
  of: fc.nat(2),
  statements: fc.array(fc.constantFrom(...CHANGES), { minLength: 1, maxLength: 3 }),
  isKept: fc.boolean(),
});

/** The statements in one transaction. */
async function apply({ of, statements, isKept }: { of: number; statements: string[]; isKept: boolean }) {
  const undone = new Error('rolled back');
  await app.container.sql
    .begin(async (tx) => {
      for (const text of statements) await tx.unsafe(text, [videos[of] ?? '', streams[of] ?? '']);
      if (!isKept) throw undone;
    })
    .catch((error: unknown) => assert.equal(error, undone));
}

const withoutKey = (row: unknown) =>
  JSON.stringify(row, (name, value) => (name === 'streamKey' ? null : value));

/** Each row of the list is what its own endpoint answers, which reads it anew, and no other row is there. */
async function assertFresh(path: string, ids: readonly string[]): Promise<void> {
  const listed = (await app.request('GET', `${path}?limit=3`, { key })).assertOk(200);
  const rows: string[] = [];
  for (const id of ids.toReversed()) {
    const answer = await app.request('GET', `${path}/${id}`, { key });
    if (answer.status !== 404) rows.push(withoutKey(answer.assertOk(200).at('data')));
  }
  assert.deepEqual(listed.list('data').map(withoutKey), rows);
}

test('a list shows each row as it is, whatever was changed since the list before', async () => {
  const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
    for (const one of changes) {
      await apply(one);
      await assertFresh('/videos', videos);
      await assertFresh('/streams', streams);
    }
  });
  await fc.assert(property, { numRuns: 15 });
});

test('a row that changes between the two reads is not shown in a state of neither', async () => {
  const states = new Map([['a', '1']]);
  const read = createVersionedReader((ids) =>
    Promise.resolve(
      ids.map((id) => ({ id, version: states.get(id) ?? '' })).filter((row) => row.version !== ''),
    ),
  );
  const first = await read([{ id: 'a', version: '1' }]);
  assert.deepEqual(first, [{ id: 'a', version: '1' }]);
  assert.equal((await read([{ id: 'a', version: '1' }]))?.[0], first?.[0]);
  states.set('a', '3');
  assert.equal(await read([{ id: 'a', version: '2' }]), null);
  states.delete('a');
  assert.equal(await read([{ id: 'a', version: '4' }]), null);
});
