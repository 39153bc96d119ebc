import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { type OwnPostgres, startOwnPostgres } from '../../../../test/harness/own-postgres.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { addVideo, madeUpFiles } from '../../../../test/videos/fixture.ts';

const OUTAGE_SEC = 40;
let server: OwnPostgres;
let app: TestApp;
before(async () => {
  server = await startOwnPostgres();
  const env = { DATABASE_DEADLINE_MS: '1000', LIVE_WITHOUT_DATABASE_SEC: String(OUTAGE_SEC) };
  app = await startTestApp({ databaseUrl: server.url, env });
});
after(async () => {
  await app.close();
  await server.close();
});

test('without the database a restricted video ends before an open one, which ends after LIVE_WITHOUT_DATABASE_SEC', async () => {
  const { account, key } = await app.createKey();
  const add = async (visibility: 'PUBLIC' | 'PRIVATE') => {
    const id = await addVideo(app.container, account, madeUpFiles(), { visibility });
    const made = await app.request('POST', `/videos/${id}/playback-tokens`, { key, body: { ttlSec: 3600 } });
    const query = `?token=${made.assertOk(201).string('data.token')}`;
    return `${app.url}/v/${id}/master.m3u8${visibility === 'PUBLIC' ? '' : query}`;
  };
  const [open, closed] = [await add('PUBLIC'), await add('PRIVATE')];
  const statuses = async () =>
    Promise.all([open, closed].map(async (url) => (await fetch(url)).status)).then((both) => both.join());
  assert.equal(await statuses(), '200,200');
  await server.stop();
  const seen: string[] = [];
  const isOver = async () => {
    const now = await statuses();
    if (seen.at(-1) !== now) seen.push(now);
    return now === '503,503';
  };
  await waitFor(isOver, { timeoutMs: OUTAGE_SEC * 1000, intervalMs: 500, message: () => seen.join(' ') });
  assert.deepEqual(seen, ['200,200', '200,503', '503,503']);
  await server.start();
  await waitFor(async () => (await statuses()) === '200,200');
});
