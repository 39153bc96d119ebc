import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { insertReadyVideo } from '../../../test/harness/videos.ts';
import { createTurnReader } from './batch.ts';
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
  "insert into video_replacement (video_id, revision, status, import_id, created_at, updated_at) select id, 1, 'QUEUED', 'imp_01kafe3n4pfx2v9yq6m8d7t5zr', now(), now() from video where id = $1 or id = $2 on conflict do nothing",
  'update video_replacement set progress_percent = progress_percent + 1 where video_id = $1 or video_id = $2',
  'delete from video_replacement where video_id = $1 or video_id = $2',
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

interface Shown {
  id: string;
  /** Null: 404. */
  text: string | null;
}

async function readAll(path: string, ids: readonly string[]): Promise<Shown[]> {
  const rows: Shown[] = [];
  for (const id of ids.toReversed()) {
    const answer = await app.request('GET', `${path}/${id}`, { key });
    rows.push({ id, text: answer.status === 404 ? null : JSON.stringify(answer.assertOk(200).at('data')) });
  }
  return rows;
}

/** Each row, by itself and in the list, is what it is when it is read anew: after it was written without a change. */
async function assertFresh(table: 'video' | 'stream', ids: readonly string[]): Promise<void> {
  const path = `/${table}s`;
  const listed = (await app.request('GET', `${path}?limit=3`, { key })).assertOk(200);
  const single = await readAll(path, ids);
  await app.container.sql`update ${app.container.sql(table)} set title = title`;
  const fresh = await readAll(path, ids);
  assert.deepEqual(single, fresh);
  const there = fresh.flatMap(({ text }) => (text === null ? [] : [withoutKey(JSON.parse(text))]));
  assert.deepEqual(listed.list('data').map(withoutKey), there);
}

test('a row is shown as it is, by itself and in lists, whatever was changed since it was read before', async () => {
  const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
    for (const one of changes) {
      await apply(one);
      await assertFresh('video', videos);
      await assertFresh('stream', streams);
    }
  });
  await fc.assert(property, { numRuns: 8 });
});

/** Rows that say how they were read. */
function tableOf(states: Map<string, string>) {
  const asked: string[] = [];
  const rowsOf = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const version = states.get(id);
      return version === undefined ? [] : [{ id, version }];
    });
  const read = (how: string) => (ids: string[]) => {
    asked.push(`${how} ${ids.join(' ')}`);
    return Promise.resolve(rowsOf(ids));
  };
  return { asked, reader: createVersionedReader({ heads: read('heads'), load: read('rows') }) };
}

test('a row that changes between the two reads of a list is not shown in a state of neither', async () => {
  const states = new Map([['a', '1']]);
  const { reader } = tableOf(states);
  const first = await reader.rows([{ id: 'a', version: '1' }]);
  assert.deepEqual(first, [{ id: 'a', version: '1' }]);
  assert.equal((await reader.rows([{ id: 'a', version: '1' }]))?.[0], first?.[0]);
  states.set('a', '3');
  assert.equal(await reader.rows([{ id: 'a', version: '2' }]), null);
  states.delete('a');
  assert.equal(await reader.rows([{ id: 'a', version: '4' }]), null);
});

test('one row is read whole when it is not known or has changed, and only asked for its state when it has not', async () => {
  const states = new Map([
    ['a', '1'],
    ['b', '1'],
  ]);
  const { reader, asked } = tableOf(states);
  const all = () => Promise.all(['a', 'b', 'c'].map((id) => reader.row(id)));
  const [first] = await all();
  assert.deepEqual(asked.splice(0), ['rows a b c']);
  assert.equal((await all())[0], first);
  assert.deepEqual(asked.splice(0), ['heads a b', 'rows c']);
  states.set('b', '2').set('c', '1');
  assert.deepEqual(await all(), [
    { id: 'a', version: '1' },
    { id: 'b', version: '2' },
    { id: 'c', version: '1' },
  ]);
  assert.deepEqual(asked.splice(0), ['heads a b', 'rows c', 'rows b']);
  states.delete('a');
  assert.equal((await all())[0], undefined);
  assert.equal((await all())[0], undefined);
  assert.deepEqual(asked.splice(0), ['heads a b c', 'rows a', 'heads b c', 'rows a']);
});

test('rows that are not asked for give way to those that are, when all are too many', async () => {
  const loaded: string[] = [];
  const text = 'x'.repeat(1_500_000);
  const reader = createVersionedReader({
    heads: async (ids) => ids.map((id) => ({ id, version: '1' })),
    async load(ids) {
      loaded.push(...ids);
      return ids.map((id) => ({ id, version: '1', text }));
    },
  });
  for (const id of ['a', 'b', 'a', 'c', 'd', 'a', 'b']) await reader.row(id);
  assert.deepEqual(loaded, ['a', 'b', 'c', 'd', 'b']);
});

test('equal reads of one turn are one, and none is given what was read before it was asked for', async () => {
  const begun: number[] = [];
  let during: Promise<object> | null = null;
  const read = createTurnReader(async (asked: { n: number }) => {
    begun.push(asked.n);
    during ??= read(asked);
    return { n: asked.n };
  });
  const [first, second, other] = await Promise.all([read({ n: 1 }), read({ n: 1 }), read({ n: 2 })]);
  assert.equal(first, second);
  assert.notEqual(first, other);
  assert.notEqual(await during, first);
  assert.deepEqual(begun, [1, 2, 1]);
});
