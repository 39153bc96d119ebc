import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type AuthFixture, startAuthFixture } from '../../../../test/auth/fixture.ts';
import type { TestApp } from '../../../../test/harness/app.ts';
import { TestClock } from '../../../../test/harness/clock.ts';
import type { TestAccount } from '../../../../test/harness/factories.ts';
import { type OwnPostgres, startOwnPostgres } from '../../../../test/harness/own-postgres.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { createPackagedStream } from '../../../../test/streams/packaged-stream.ts';
import { addCaption, addVideo, FOLDER, madeUpFiles } from '../../../../test/videos/fixture.ts';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
const LIVE_FILES = ['master.m3u8', 'src/index.m3u8', 'e1/src/s_000002.m4s', 'e1/src/init.mp4'];
const VIDEO_FILES = [
  'master.m3u8',
  `${FOLDER}/1080p/index.m3u8`,
  `${FOLDER}/360p/s_00001.m4s`,
  `${FOLDER}/img/poster.jpg`,
  `${FOLDER}/img/storyboard.vtt`,
  'chapters.vtt',
];

let server: OwnPostgres;
let auth: AuthFixture;
let app: TestApp;
let account: TestAccount;
let key: string;

before(async () => {
  server = await startOwnPostgres();
  auth = await startAuthFixture(clock, { DATABASE_DEADLINE_MS: '1000' }, server.url);
  ({ app } = auth);
  ({ account, key } = await app.createKey());
});
after(async () => {
  await auth.close();
  await server.close();
});

let restore = async () => {};
/** Brings the database back after an outage. */
async function endOutage(): Promise<void> {
  const end = restore;
  restore = async () => {};
  await end();
}
afterEach(async () => {
  await endOutage();
  await waitFor(async () => (await app.request('GET', '/streams', { key, undeclared: true })).status === 200);
});
const outages = {
  async stopped() {
    await server.stop();
    restore = () => server.start();
  },
  async frozen() {
    await server.freeze();
    restore = () => server.resume();
  },
};

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(app.url + path, { headers, redirect: 'manual' });

/** Requests all paths concurrently. @returns the distinct statuses. */
async function statuses(paths: readonly string[], headers: Record<string, string> = {}): Promise<number[]> {
  const answers = await Promise.all(paths.map((path) => get(path, headers)));
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
  return [...new Set(answers.map(({ status }) => status))];
}

async function onAir(settings: object = {}) {
  const stream = await createPackagedStream({ app, key, clock }, settings);
  await stream.act('start');
  const body = { ttlSec: 3600 };
  const made = await app.request('POST', `/streams/${stream.id}/playback-tokens`, { key, body });
  const query = `?token=${made.assertOk(201).string('data.token')}`;
  return { ...stream, query, paths: LIVE_FILES.map((file) => `/live/${stream.id}/${file}`) };
}
const withQuery = (paths: readonly string[], query: string) => paths.map((path) => path + query);

/** Returns the value of a counter of stale answers. */
async function staleAnswers(kind: 'stream' | 'video'): Promise<number> {
  const text = await app.container.metrics.registry.metrics();
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`marquee_live_stale_answers_total{kind="${kind}"}`));
  return Number(line?.split(' ').at(-1) ?? 0);
}

for (const [name, begin] of Object.entries(outages)) {
  test(`viewers continue to get broadcasts and videos while the database is ${name}`, async () => {
    const open = await onAir();
    const closed = await onAir({ visibility: 'PRIVATE' });
    const video = await addVideo(app.container, account, madeUpFiles());
    const caption = await addCaption(app.container, account, video);
    const files = [...VIDEO_FILES, `captions/${caption}`, `captions/${caption}.m3u8`];
    const paths = [...open.paths, ...withQuery(closed.paths, closed.query)];
    paths.push(...files.map((file) => `/v/${video}/${file}`));
    const pages = [open.id, video].flatMap((id) => [`/watch/${id}`, `/embed/${id}`]);
    assert.deepEqual(await statuses(paths), [200]);
    assert.deepEqual(await statuses(closed.paths), [404]);
    const unseen = await onAir();
    const before = { stream: await staleAnswers('stream'), video: await staleAnswers('video') };
    await begin();
    clock.advance(2000);
    await open.add();
    const seen = new Set<number>();
    const isStale = async () => {
      for (const status of await statuses(paths)) seen.add(status);
      return (await staleAnswers('stream')) > before.stream && (await staleAnswers('video')) > before.video;
    };
    await waitFor(isStale, { message: 'answers from the last known state' });
    assert.deepEqual([...seen, ...(await statuses(paths))], [200, 200]);
    assert.deepEqual(await statuses(closed.paths), [404], 'the token is still required');
    assert.deepEqual(await statuses(pages), [200]);
    assert.match(await (await get(open.paths[1] ?? '')).text(), /s_000003\.m4s/);
    const answer = await get(unseen.paths[0] ?? '');
    assert.equal(answer.status, 503, 'a stream that had no viewer');
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    await endOutage();
    await waitFor(async () => (await statuses(unseen.paths)).join() === '200');
    await waitFor(
      async () =>
        (await app.request('POST', `/streams/${open.id}/stop`, { key, undeclared: true })).status === 200,
    );
    assert.deepEqual(await statuses([open.paths[0] ?? '']), [404]);
  });
}

test('a viewer who was admitted as a follower continues without the database, and others get 503', async () => {
  const [first, second] = [await auth.person(), await auth.person()];
  const { username } = await app.container.accounts.byId(account.id);
  const headersOf = async (viewer: typeof first) => ({
    'x-api-key': viewer.key,
    'x-user-token': await auth.token(viewer),
  });
  for (const viewer of [first, second])
    (await app.request('POST', `/users/${username}/subscribe`, { key: viewer.key })).assertOk(201);
  const [admitted, unknown] = [await headersOf(first), await headersOf(second)];
  const stream = await onAir({ visibility: 'FOLLOWERS' });
  const video = await addVideo(app.container, account, madeUpFiles(), { visibility: 'FOLLOWERS' });
  const paths = [...stream.paths, ...VIDEO_FILES.map((file) => `/v/${video}/${file}`)];
  assert.deepEqual(await statuses(paths, admitted), [200]);
  await outages.stopped();
  assert.deepEqual(await statuses(paths, admitted), [200]);
  assert.deepEqual(await statuses(paths), [404], 'no credentials, no access');
  assert.deepEqual(await statuses(paths, unknown), [503]);
  const answer = await get(paths[0] ?? '', unknown);
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  await endOutage();
  await waitFor(async () => (await statuses(paths, unknown)).join() === '200');
  (
    await waitFor(async () => {
      const removed = await app.request('DELETE', `/users/${username}/subscribe`, {
        key: first.key,
        undeclared: true,
      });
      return removed.status === 503 ? null : removed;
    })
  ).assertOk(200);
  await waitFor(async () => (await statuses(paths, admitted)).join() === '404');
});

test('a beacon sent without the database is counted when it is back', async () => {
  const video = await addVideo(app.container, account, madeUpFiles());
  const page = await (await get(`/watch/${video}`, { 'user-agent': 'Mozilla/5.0 Firefox/145.0' })).text();
  const session = / session="([^"]*)"/.exec(page)?.[1] ?? '';
  await outages.stopped();
  const answer = await fetch(`${app.url}/playback/beacon`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', 'user-agent': 'Mozilla/5.0 Firefox/145.0' },
    body: JSON.stringify({ session, n: 0, events: [{ type: 'PLAY', positionSec: 0, at: clock.ms() }] }),
  });
  assert.equal(answer.status, 204);
  await endOutage();
  const count = async () =>
    (await app.container.sql`select from usage_event where subject_id = ${video} and kind = 'BEACON'`).length;
  await waitFor(async () => (await count()) === 1);
});
