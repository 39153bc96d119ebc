import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RequestOptions, startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { openRawSocket } from '../../../test/harness/raw-http.ts';
import { BODY_LIMIT_BYTES } from './body.ts';

let app: TestApp;
let key: string;

before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

const post = (body: unknown, options: RequestOptions = {}) =>
  app.request('POST', '/streams', { key, body, ...options });

describe('invalid JSON is 400', () => {
  const broken: [name: string, body: string | Uint8Array][] = [
    ['an empty body', ''],
    ['blanks', ' \n\t '],
    ['a cut object', '{"title":"x"'],
    ['two objects', '{"title":"x"}{}'],
    ['single quotes', "{'title':'x'}"],
    ['a trailing comma', '{"title":"x",}'],
    ['a comment', '{"title":"x"/* y */}'],
    ['NaN', '{"title":"x","reconnectWindowSec":NaN}'],
    ['a raw NUL in a string', '{"title":"a\0b"}'],
    ['invalid UTF-8', Buffer.from([...Buffer.from('{"title":"'), 0xc3, 0x28, ...Buffer.from('"}')])],
    [
      'an encoded surrogate',
      Buffer.from([...Buffer.from('{"title":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
    ],
    ['Latin-1', Buffer.from('{"title":"é"}', 'latin1')],
    ['UTF-16', Buffer.from('{"title":"x"}', 'utf16le')],
    ['__proto__', '{"title":"x","__proto__":{"isAdmin":true}}'],
    ['a nested __proto__', '{"title":"x","metadata":{"__proto__":{"a":"b"}}}'],
    ['an escaped __proto__', '{"title":"x","\\u005f_proto__":{"a":"b"}}'],
    ['constructor.prototype', '{"title":"x","constructor":{"prototype":{"a":1}}}'],
    ['a million brackets', '['.repeat(1_000_000)],
    ['150,000 levels that close', `{"title":${'['.repeat(150_000)}${']'.repeat(150_000)}}`],
    ['65 levels', `{"title":"x","metadata":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`],
  ];
  for (const [name, body] of broken) {
    test(name, async () => {
      (await post(body)).assertError('BAD_REQUEST', 'body').assertRateLimited(true);
      assert.equal(Object.hasOwn(Object.prototype, 'isAdmin'), false);
    });
  }

  test('NUL and lone surrogates hidden behind escapes, at any depth, name their place', async () => {
    for (const [body, field] of [
      ['{"title":"a\\u0000"}', 'title'],
      ['{"title":"\\uDC00\\uD800"}', 'title'],
      ['{"title":"x","metadata":{"a":"\\ud83c"}}', 'metadata.a'],
      ['{"title":"x","other":[{"b":"\\u0000"}]}', 'other.0.b'],
      ['{"title":"x","\\u0000":1}', 'body'],
      ['"\\u0000"', 'body'],
    ] as const) {
      (await post(body)).assertError('BAD_REQUEST', field);
    }
    const pair = await post('{"title":"\\ud83c\\udfac"}');
    assert.equal(pair.assertOk(201).at('data.title'), '🎬');
  });

  test('63 levels below the body are taken, and a long path is cut', async () => {
    const deep = (inner: string) => `{"title":"x","y":${'['.repeat(63)}${inner}${']'.repeat(63)}}`;
    (await post(deep('1'))).assertOk(201);
    const name = 'x'.repeat(10_000);
    const refused = await post(`{"title":"x","${name}":"\\u0000"}`);
    assert.equal(refused.at('error.code'), 'BAD_REQUEST');
    assert.ok(refused.text.length < 1000, `${refused.text.length} bytes`);
  });
});

describe('the media type', () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/problem+json',
    'nonsense',
    '',
  ]) {
    test(`"${type}" is 415`, async () => {
      const answer = await post('{"title":"x"}', { headers: { 'content-type': type } });
      answer.assertError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type').assertRateLimited(true);
    });
  }

  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;x=y']) {
    test(`"${type}" is taken`, async () => {
      (await post('{"title":"x"}', { headers: { 'content-type': type } })).assertOk(201);
    });
  }

  test('a body without a type is 415; no body needs none', async () => {
    const socket = await openRawSocket(app.port);
    const head = `POST /api/v1/streams HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`;
    const untyped = await socket.exchange(`${head}Content-Length: 2\r\n\r\n{}`);
    untyped.assertError('UNSUPPORTED_MEDIA_TYPE', 'Content-Type');
    const bodiless = await socket.exchange(`${head}\r\n`);
    bodiless.assertError('BAD_REQUEST', 'body');
    socket.close();
    const created = (await post({ title: 'x' })).string('data.id');
    (await app.request('POST', `/streams/${created}/start`, { key })).assertOk(200);
  });

  test('the media type of an empty body is ignored', async () => {
    const created = (await post({ title: 'x' })).string('data.id');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    (await app.request('POST', `/streams/${created}/start`, { key, body: '', headers })).assertOk(200);
    (await post('', { headers })).assertError('BAD_REQUEST', 'body');
    const socket = await openRawSocket(app.port);
    const head = `POST /api/v1/streams HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`;
    const unsized = await socket.exchange(`${head}Content-Type: ${headers['content-type']}\r\n\r\n`);
    unsized.assertError('BAD_REQUEST', 'body');
    socket.close();
  });

  test('a byte order mark is no harm', async () => {
    (await post(Buffer.from('\ufeff{"title":"x"}'))).assertOk(201);
  });
});

describe('the size', () => {
  const ofSize = (bytes: number) => {
    const frame = '{"title":"x","y":""}';
    return frame.replace('""}', `"${'y'.repeat(bytes - frame.length)}"}`);
  };

  test('1 MB is taken, a byte more is 413', async () => {
    assert.equal(Buffer.byteLength(ofSize(BODY_LIMIT_BYTES)), BODY_LIMIT_BYTES);
    (await post(ofSize(BODY_LIMIT_BYTES))).assertOk(201);
    const over = await post(ofSize(BODY_LIMIT_BYTES + 1));
    over.assertError('PAYLOAD_TOO_LARGE').assertRateLimited(true);
  });

  test('a length beyond the limit is refused before the body comes', async () => {
    const socket = await openRawSocket(app.port);
    const answer = await socket.exchange(
      `POST /api/v1/streams HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
        'Content-Length: 999999999999\r\n\r\n{',
    );
    answer.assertError('PAYLOAD_TOO_LARGE');
    socket.close();
  });

  test('chunks that never end are refused at the limit', async () => {
    const socket = await openRawSocket(app.port);
    socket.write(
      `POST /api/v1/streams HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n',
    );
    const chunk = `10000\r\n${'{'.repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < 20; sent++) socket.write(chunk);
    (await socket.answer()).assertError('PAYLOAD_TOO_LARGE');
    socket.close();
  });

  test('what a key may not do is refused before its body is read', async () => {
    const reader = (await app.createKey({ scope: 'READ_ONLY' })).key;
    const refused = await app.request('POST', '/streams', {
      key: reader,
      body: ofSize(BODY_LIMIT_BYTES + 1),
    });
    refused.assertError('INSUFFICIENT_SCOPE');
    (await app.request('POST', '/streams', { body: '{' })).assertError('UNAUTHORIZED');
  });
});

test('a body on GET is not looked at', async () => {
  const socket = await openRawSocket(app.port);
  const answer = await socket.exchange(
    `GET /api/v1/streams HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc`,
  );
  answer.assertOk(200);
  socket.close();
});
