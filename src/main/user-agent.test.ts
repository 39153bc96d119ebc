import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { startBridge } from '../../test/bridges/bridge.ts';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { type HttpsSink, startHttpsSink } from '../../test/harness/https-sink.ts';
import { jobWorker, runTask } from '../../test/harness/modules.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import { startTcp } from '../../test/restream/destinations.ts';
import { trust } from '../../test/webhooks/fixture.ts';
import { startJobWorkers } from '../jobs/worker.ts';
import { userAgentOf } from '../platform/outbound/index.ts';

const EXPECTED = `Marquee/${manifest.version} (+http://marquee.test)`;
const LOOPBACK = '127.0.0.0/8';

let app: TestApp;
let sink: HttpsSink;
let key: string;

before(async () => {
  sink = await startHttpsSink();
  trust(sink);
  sink.reply = () => ({ status: 404 });
  app = await startTestApp({ env: { FETCH_ALLOW_PRIVATE: LOOPBACK, WEBHOOK_ALLOW_PRIVATE: LOOPBACK } });
  ({ key } = await app.createKey());
});
after(async () => {
  await app.close();
  await sink.close();
});

/** Waits for the request for `path` and returns its `User-Agent`. */
const agentAt = (path: string) =>
  waitFor(() => sink.requests.find((request) => request.path === path)?.headers['user-agent'], {
    message: `a request for ${path}`,
  });
const call = (method: string, path: string, body: object) => app.request(method, path, { key, body });

test('imports name the platform', async (t) => {
  const workers = startJobWorkers({ ...app.container, workers: [jobWorker(app.container, 'import.fetch')] });
  t.after(() => workers.stop());
  (await call('POST', '/imports', { sourceUrl: `${sink.url}/film.mp4` })).assertOk(201);
  assert.equal(await agentAt('/film.mp4'), EXPECTED);
});

test('external calendars are read under the name of the platform', async () => {
  (await call('POST', '/booking/calendars', { url: `${sink.url}/a.ics`, name: 'Mine' })).assertOk(201);
  await runTask(app.container, 'external calendars');
  assert.equal(await agentAt('/a.ics'), EXPECTED);
});

test('images at an address are fetched under the name of the platform', async () => {
  (await call('PUT', '/me/avatar', { url: `${sink.url}/a.png` })).assertError('BAD_REQUEST', 'url');
  assert.equal(await agentAt('/a.png'), EXPECTED);
});

test('HLS sources are pulled under the name of the platform', async (t) => {
  await startBridge(t, `${sink.url}/index.m3u8`, { outbound: app.container.fetcher });
  assert.equal(await agentAt('/index.m3u8'), EXPECTED);
});

test('RTSP sources are pulled under the name of the platform', async (t) => {
  let sent = '';
  const port = await startTcp(t, (socket) => socket.on('data', (data) => (sent += data)));
  await startBridge(t, `rtsp://127.0.0.1:${port}/cam`, { outbound: app.container.fetcher });
  const [, agent] = await waitFor(() => /^User-Agent: (.*)\r$/m.exec(sent));
  assert.equal(agent, EXPECTED);
});

test('webhook deliveries keep the name of the contract', async () => {
  const made = await call('POST', '/me/webhooks', { url: `${sink.url}/hook`, events: ['*'] });
  await call('POST', `/me/webhooks/${made.assertOk(201).string('data.id')}/test`, {});
  assert.equal(await agentAt('/hook'), 'svc-webhook/1.0');
});

test('the name of a platform has neither a password nor letters that a header cannot carry', () => {
  assert.equal(
    userAgentOf('https://ada:secret@bücher.example/tv'),
    `Marquee/${manifest.version} (+https://xn--bcher-kva.example/tv)`,
  );
});
