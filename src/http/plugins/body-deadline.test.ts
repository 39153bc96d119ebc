import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fastify } from 'fastify';
import { openRawSocket } from '../../../test/harness/raw-http.ts';
import { bodyDeadline, jsonBody } from './body.ts';

const LIMIT_MS = 300;

async function listen(t: TestContext) {
  const app = fastify({ logger: false, requestTimeout: 0 });
  bodyDeadline(app, LIMIT_MS);
  jsonBody(app);
  app.post('/json', async (request) => ({ got: request.body }));
  app.get('/unread', async () => ({ got: null }));
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    scope.post('/stream', { config: { streams: true } }, async (request) => {
      let bytes = 0;
      for await (const chunk of request.raw) bytes += chunk.length;
      return { bytes };
    });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => app.close());
  const address = app.server.address();
  return openRawSocket(typeof address === 'object' && address !== null ? address.port : 0);
}

const head = (line: string, bytes: number) =>
  `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;

test('a body that trickles is answered 408 and hung up on', async (t) => {
  const socket = await listen(t);
  const answer = await socket.exchange(`${head('POST /json', 100)}{"a":`);
  assert.equal(answer.status, 408);
  assert.equal(answer.at('error.code'), 'REQUEST_TIMEOUT');
  await socket.closed();
});

test('a body that nobody reads does not hold the connection for ever', async (t) => {
  const socket = await listen(t);
  assert.equal((await socket.exchange(`${head('GET /unread', 100)}{`)).status, 200);
  await socket.closed();
});

test('whole bodies leave no deadline behind, and streamed ones have none', async (t) => {
  const socket = await listen(t);
  assert.equal((await socket.exchange(`${head('POST /json', 2)}{}`)).status, 200);
  socket.write(`${head('POST /stream', 4)}ab`);
  // Longer than the limit: what is tested is that nothing happens meanwhile.
  await sleep(LIMIT_MS * 2);
  const answer = await socket.exchange('cd');
  assert.equal(answer.status, 200);
  assert.equal(answer.at('bytes'), 4);
  socket.close();
});
