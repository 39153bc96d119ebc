import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fastify } from 'fastify';
import { openRawSocket } from '../../../test/harness/raw-http.ts';
import { createLogger } from '../../platform/logger.ts';
import { bodyDeadline, jsonBody } from './body.ts';
import { errorHandler } from './errors.ts';
import { requestId, requestIdOf } from './request-id.ts';

const LIMIT_MS = 300;
const REQUEST_ID = '0b9f5c2e-7d41-4a8e-9c53-2f6b1d8e4a70';

async function listen(t: TestContext) {
  const app = fastify({ logger: false, requestTimeout: 0, genReqId: requestIdOf });
  const answered: number[] = [];
  requestId(app);
  bodyDeadline(app, LIMIT_MS);
  // State that earlier hooks would have set.
  app.addHook('onRequest', async (_request, reply) => void reply.header('x-ratelimit-remaining', 41));
  app.addHook('onResponse', async (_request, reply) => void answered.push(reply.statusCode));
  app.decorateRequest('errorCode', null);
  app.decorateRequest('quotaRefusal', null);
  jsonBody(app);
  app.setErrorHandler(errorHandler(createLogger('silent'), () => null));
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
  const open = () => openRawSocket(typeof address === 'object' && address !== null ? address.port : 0);
  return { open, answered };
}

const head = (line: string, bytes: number) =>
  `${line} HTTP/1.1\r\nHost: a\r\nX-SVC-Request-Id: ${REQUEST_ID}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;

test('a body that trickles is answered 408, as any other request is, and hung up on', async (t) => {
  const { open, answered } = await listen(t);
  const socket = await open();
  const answer = await socket.exchange(`${head('POST /json', 100)}{"a":`);
  assert.equal(answer.status, 408);
  assert.equal(answer.at('error.code'), 'REQUEST_TIMEOUT');
  assert.equal(answer.headers['x-svc-request-id'], REQUEST_ID);
  assert.equal(answer.headers['x-ratelimit-remaining'], '41');
  await socket.closed();
  assert.deepEqual(answered, [408]);
});

test('an unread body does not hold the connection open forever', async (t) => {
  const socket = await (await listen(t)).open();
  assert.equal((await socket.exchange(`${head('GET /unread', 100)}{`)).status, 200);
  await socket.closed();
});

test('whole bodies leave no deadline behind, and streamed ones have none', async (t) => {
  const socket = await (await listen(t)).open();
  assert.equal((await socket.exchange(`${head('POST /json', 2)}{}`)).status, 200);
  socket.write(`${head('POST /stream', 4)}ab`);
  // Longer than the limit: the test verifies that the deadline does not fire.
  await sleep(LIMIT_MS * 2);
  const answer = await socket.exchange('cd');
  assert.equal(answer.status, 200);
  assert.equal(answer.at('bytes'), 4);
  socket.close();
});
