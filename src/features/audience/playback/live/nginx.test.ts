import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts';
import { TestClock } from '../../../../../test/harness/clock.ts';
import {
  broadcastGuide,
  hasNginx,
  type RunningNginx,
  startNginx,
} from '../../../../../test/harness/nginx.ts';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import { createPackagedStream } from '../../../../../test/streams/packaged-stream.ts';

const SEGMENT = 'e1/src/s_000002.m4s';
const PLAYLIST = 'src/index.m3u8';
const VIEWERS = 50;
/** Maximum cache time: whole seconds in nginx, plus the duration of the test. */
const SHOWN_MS = 2500;
const skip = !hasNginx() && 'no nginx';

const clock = new TestClock('2026-11-20T09:00:00.000Z');
let app: TestApp;
let key: string;
let nginx: RunningNginx;

before(async () => {
  if (skip) return;
  app = await startTestApp({ clock });
  ({ key } = await app.createKey());
  const { http, server } = await broadcastGuide(app.url);
  const log = "log_format asked '$uri $upstream_addr';";
  nginx = await startNginx(
    `access_log /var/cache/nginx/asked asked; log_subrequest on; ${server}`,
    http + log,
  );
});
after(async () => {
  await nginx?.close();
  await app?.close();
});

async function broadcast(settings: object = {}) {
  const stream = await createPackagedStream({ app, key, clock }, settings);
  await stream.act('start');
  const base = `/live/${stream.id}/`;
  let asked = 0;
  const logged = async () =>
    (await readFile(join(nginx.dir, 'asked'), 'utf8')).split('\n').filter((line) => line.startsWith(base));
  const isOfViewer = (line: string) => !line.includes('/admission ');
  return {
    ...stream,
    /** Sends the request of a new viewer. */
    status: async (path: string) => {
      asked += 1;
      const headers = { 'user-agent': `viewer ${asked}` };
      const answer = await fetch(nginx.url + base + path, { headers });
      await answer.arrayBuffer();
      return answer.status;
    },
    /** Returns the number of requests that reached the platform. */
    passed: async (path: string) => {
      await waitFor(async () => (await logged()).filter(isOfViewer).length === asked);
      const lines = (await logged()).filter((line) => line.startsWith(`${base}${path} `));
      return lines.filter((line) => !line.endsWith(' -')).length;
    },
  };
}

test('concurrent requests for a part reach the platform once, and later ones are served from the cache', {
  skip,
}, async () => {
  const { status, passed } = await broadcast();
  const all = (path: string) => Promise.all(Array.from({ length: VIEWERS }, () => status(path)));
  assert.deepEqual(new Set(await all(SEGMENT)), new Set([200]));
  assert.deepEqual(new Set(await all(PLAYLIST)), new Set([200]));
  assert.deepEqual([await passed(SEGMENT), await passed('admission'), await passed(PLAYLIST)], [1, 1, 1]);
  // The cached check expires after a second and is repeated.
  await waitFor(async () => (await status(SEGMENT)) === 200 && (await passed('admission')) > 1, {
    timeoutMs: 4000,
    intervalMs: 100,
  });
  assert.deepEqual(new Set(await all(SEGMENT)), new Set([200]));
  assert.equal(await passed(SEGMENT), 1);
});

test('nothing is served two seconds after the stop, and everything with the next start', {
  skip,
}, async () => {
  const { status, act } = await broadcast();
  const paths = [SEGMENT, PLAYLIST, 'e1/src/init.mp4'];
  const all = () => Promise.all(paths.map(status));
  await waitFor(async () => (await all()).every((one) => one === 200));
  await act('stop');
  const fromMs = performance.now();
  const isRefused = async () => (await all()).every((one) => one === 403 || one === 404);
  await waitFor(isRefused, { timeoutMs: SHOWN_MS, intervalMs: 20, message: 'the end' });
  assert.ok(performance.now() - fromMs < SHOWN_MS);
  await act('start');
  await waitFor(async () => (await all()).every((one) => one === 200), { message: 'the next start' });
});

test('restricted media is not served to other viewers', { skip }, async () => {
  const { status, passed, read } = await broadcast({ visibility: 'PRIVATE' });
  const token = new URL(String(await read('playbackUrl'))).search;
  assert.equal(await status(SEGMENT + token), 200);
  assert.equal(await status(SEGMENT + token), 200);
  assert.equal(await passed(SEGMENT), 2, 'it is not kept');
  assert.equal(await status(SEGMENT), 403);
  assert.equal(await status(`${SEGMENT}${token}x`), 403);
});
