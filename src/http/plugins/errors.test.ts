import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { startTestApp } from '../../../test/harness/app.ts';
import { openRawSocket } from '../../../test/harness/raw-http.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { errorHandler } from './errors.ts';

describe('malformed HTTP still gets the envelope', { concurrency: false }, () => {
  const broken: [name: string, bytes: string | Uint8Array, status: number][] = [
    ['garbage', 'garbage\r\n\r\n', 400],
    ['an unknown method', 'FROB / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['an unknown protocol version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400],
    ['a bare carriage return in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n', 400],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n', 400],
    ['a length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex'), 400],
    ['a header of 20 KB', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    [
      'a flood of headers',
      `GET / HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 2000 }, (_, i) => `H${i}: ${i}\r\n`).join('')}\r\n`,
      431,
    ],
    ['a path of 20 KB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
  ];

  test('bytes that are no request: the answer, and the connection is closed', async () => {
    const app = await startTestApp();
    try {
      for (const [name, bytes, status] of broken) {
        const socket = await openRawSocket(app.port);
        const answer = await socket.exchange(bytes);
        assert.equal(answer.status, status, name);
        answer.assertCommonHeaders();
        assert.equal(answer.headers.vary, 'Svc-API-Version', name);
        assert.equal(answer.at('success'), false, name);
        const code = status === 431 ? 'HEADERS_TOO_LARGE' : 'BAD_REQUEST';
        assert.equal(answer.at('error.code'), code, name);
        await socket.closed();
      }
    } finally {
      await app.close();
    }
  });

  test('HTTP that Node would refuse by itself goes through the chain', async () => {
    const app = await startTestApp();
    try {
      const { key } = await app.createKey();
      const ask = async (request: string) => {
        const socket = await openRawSocket(app.port);
        const answer = await socket.exchange(request);
        socket.close();
        return answer;
      };
      const get = `GET /api/v1/streams HTTP/1.1\r\nX-API-Key: ${key}\r\n`;
      (await ask(`${get}\r\n`)).assertError('BAD_REQUEST', 'Host').assertRateLimited(true);
      (await ask(`${get}Host: x\r\nExpect: miracles\r\n\r\n`)).assertOk(200);
      (await ask(`${get}Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`)).assertOk(200);
      (await ask(get.replace('HTTP/1.1', 'HTTP/1.0').concat('\r\n'))).assertOk(200);
      const absolute = get.replace('/api', 'http://elsewhere.test/api');
      (await ask(`${absolute}Host: x\r\n\r\n`)).assertOk(200);
    } finally {
      await app.close();
    }
  });
});

describe('when the database is gone', () => {
  test('keyed calls and /health are an opaque 503, the process lives', async () => {
    const app = await startTestApp();
    const { key } = await app.createKey();
    try {
      (await app.request('GET', '/streams', { key })).assertOk(200);
      (await app.request('GET', '/health')).assertOk(200);
      await app.container.sql.end();
      const known = await app.request('GET', '/streams', { key });
      known.assertError('SERVICE_UNAVAILABLE').assertRateLimited(true);
      assert.doesNotMatch(known.text, /CONNECTION|postgres|sql/i);
      const unknown = await app.request('GET', '/streams', { key: `pk_${'1'.repeat(40)}` });
      unknown.assertError('SERVICE_UNAVAILABLE').assertRateLimited(false);
      (await app.request('GET', '/streams')).assertError('UNAUTHORIZED');
      (await app.request('GET', '/health')).assertError('SERVICE_UNAVAILABLE');
      (await app.request('GET', '/nope')).assertError('NOT_FOUND');
    } finally {
      await app.close();
    }
  });
});

test('a sender that goes away in the middle of its body is no failure of ours', async () => {
  const app = fastify({ logger: false });
  const statuses: number[] = [];
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const handle = errorHandler(log, () => null);
  app.setErrorHandler((error: Error, request, reply) => {
    handle(error, request, reply);
    statuses.push(reply.statusCode);
  });
  let began = false;
  app.addHook('preParsing', (_request, _reply, payload, done) => {
    payload.once('data', () => {
      began = true;
    });
    done(null, payload);
  });
  app.post('/', () => ({}));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  try {
    const socket = await openRawSocket(Number(new URL(url).port));
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    );
    await waitFor(() => began);
    socket.close();
    await waitFor(() => statuses.length > 0);
    assert.deepEqual({ statuses, lines }, { statuses: [400], lines: [] });
  } finally {
    await app.close();
  }
});

test('a unique constraint that no feature translated is a 409', async () => {
  const app = await startTestApp();
  const { key } = await app.createKey();
  try {
    await app.container.sql.unsafe('create unique index one_title on stream (workspace_id, title)');
    const create = () => app.request('POST', '/streams', { key, body: { title: 'twice' }, undeclared: true });
    (await create()).assertOk(201);
    const second = (await create()).assertError('CONFLICT');
    assert.doesNotMatch(second.text, /one_title/);
  } finally {
    await app.close();
  }
});
