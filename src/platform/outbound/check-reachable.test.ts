import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { isReachable } from './index.ts';

const host = '127.0.0.1';
const greeting = Buffer.from('hello');

test('a port that accepts is there; with a greeting, one that answers', async () => {
  let answers = true;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => (answers ? socket.write('x') : socket.end()));
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const { port } = address;
  await isReachable({ host, port, timeoutMs: 5000 });
  await isReachable({ host, port, greeting, timeoutMs: 5000 });
  answers = false;
  await assert.rejects(isReachable({ host, port, greeting, timeoutMs: 5000 }), /closed the connection/);
  const closed = once(server, 'close');
  server.close();
  await closed;
  await assert.rejects(isReachable({ host, port, timeoutMs: 5000 }), /ECONNREFUSED/);
});

test('a port that accepts the greeting and never replies times out', async () => {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  await assert.rejects(isReachable({ host, port: address.port, greeting, timeoutMs: 50 }), {
    name: 'AbortError',
  });
  server.close();
});
