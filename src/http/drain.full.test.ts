import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { openRawSocket } from '../../test/harness/raw-http.ts';

/** Longer than the time that Fastify gives its hooks by default. */
const REQUEST_MS = 12_000;

let app: TestApp;
before(async () => {
  app = await startTestApp({ env: { DRAIN_TIMEOUT: '60' } });
});
after(() => app.close());

test('a drain waits longer than ten seconds for a request', async () => {
  const { key } = await app.createKey();
  const socket = await openRawSocket(app.port);
  const body = '{"title":"Slow"}';
  const head = `POST /api/v1/streams HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}content-length: ${body.length}\r\n\r\n{`);
  // The server has received the first part once it responds to a later request.
  (await app.request('GET', '/health')).assertOk(200);
  const drained = app.drain();
  await sleep(REQUEST_MS);
  const response = await socket.exchange(body.slice(1));
  assert.equal(response.status, 201);
  await drained;
});
