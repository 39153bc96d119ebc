import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { openRawSocket } from '../../../test/harness/raw-http.ts';
import type { TestResponse } from '../../../test/harness/response.ts';
import { apiRoutes } from '../../main/api.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

function assertNotCacheable({ headers }: Pick<TestResponse, 'headers'>, what: string): void {
  assert.equal(headers['cache-control'], 'no-store', what);
  assert.equal(headers['x-content-type-options'], 'nosniff', what);
}

test('no cache keeps an answer of the API, and no browser guesses its type', async () => {
  const { key } = await app.createKey();
  for (const { method, path, reply } of apiRoutes(app.container, () => true)) {
    const query = reply.envelope === 'events' ? '?type=no.such' : '';
    const address = path.replace(/\{\w+\}/g, 'some-id') + query;
    assertNotCacheable(await app.request(method, address, { key }), `${method} ${path}`);
    assertNotCacheable(await app.request(method, address), `${method} ${path} without a key`);
  }
});

test('nor one that carries a secret', async () => {
  const { key, account } = await app.createKey();
  const made = await app.request('POST', '/streams', { key, body: { title: 'Launch' } });
  const stream = made.assertOk(201).string('data.id');
  const person = { email: 'new@example.com', password: 'correct horse battery' };
  const hook = { url: 'https://receiver.example/hook', events: ['stream.live'] };
  const secrets: [string, string, object?][] = [
    ['POST', '/auth/register', person],
    ['POST', '/auth/login', person],
    ['POST', '/me/api-keys', { name: 'Back office' }],
    ['POST', `/streams/${stream}/playback-tokens`],
    ['POST', `/streams/${stream}/rotate-key`],
    ['GET', `/streams/${stream}`],
    ['POST', '/me/webhooks', hook],
    ['POST', '/upload', { filename: 'a.mp4', sizeBytes: 10 }],
  ];
  assertNotCacheable(made, 'POST /streams');
  for (const [method, path, body] of secrets) {
    const answer = await app.request(method, path, { key, ...(body && { body }) });
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
    assertNotCacheable(answer, path);
  }
  assert.ok(account.email !== person.email);
});

test('rejections before the API are not cached either', async () => {
  const odd: [string, string][] = [
    ['GET', '/no/such/path'],
    ['DELETE', '/health'],
    ['GET', '/%zz'],
    ['OPTIONS', '/streams'],
  ];
  for (const [method, path] of odd) assertNotCacheable(await app.request(method, path), `${method} ${path}`);
  const socket = await openRawSocket(app.port);
  assertNotCacheable(await socket.exchange('GET /api/v1/health HTTP/1.1\r\nbad header\r\n\r\n'), 'not HTTP');
  socket.close();
});

test('pages and the document are sent with nosniff as well', async () => {
  for (const path of ['/', '/openapi.json', '/no-such-page', '/oembed']) {
    const answer = await fetch(app.url + path);
    await answer.arrayBuffer();
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path);
  }
});
