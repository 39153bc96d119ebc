import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';
import { openRawSocket } from '../../test/harness/raw-http.ts';
import type { TestResponse } from '../../test/harness/response.ts';
import { ERRORS } from '../kernel/errors.ts';

let app: TestApp;
let key: string;

before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

const STATUS_OF = new Map(Object.entries(ERRORS).map(([code, { status }]) => [code, status]));

/**
 * Asserts the properties of every API response (docs/concepts/conventions.md#envelopes,
 * docs/concepts/conventions.md#headers), and that no request causes a server error.
 */
function assertAnswer(answer: TestResponse): void {
  assert.ok(answer.status < 500, answer.text);
  answer.assertCommonHeaders();
  if (answer.status < 400) return void assert.equal(answer.at('success'), true);
  assert.deepEqual(Object.keys(Object(answer.json)), ['success', 'error']);
  assert.equal(answer.at('success'), false);
  assert.equal(STATUS_OF.get(answer.string('error.code')), answer.status);
  assert.ok(answer.string('error.message').length > 0);
}

const segment = fc.oneof(
  fc.constantFrom('streams', 'me', 'webhooks', 'events', 'health', 'start', 'search', '..', ''),
  fc.stringMatching(/^[!-~]{0,12}$/).map((text) => text.replace(/[?#\s]/g, '')),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map(encodeURIComponent),
  fc.stringMatching(/^(%[0-9a-f]{2}){1,4}$/),
);
const path = fc
  .tuple(fc.array(segment, { maxLength: 4 }), fc.option(fc.stringMatching(/^[!-~]{0,30}$/)))
  .map(([segments, query]) => `/${segments.join('/')}${query === null ? '' : `?${query.replace(/#/g, '')}`}`);
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND');
const body = fc.oneof(fc.json(), fc.string(), fc.constant('{"title":"x"}'), fc.constant(''));

test('whatever is asked, the answer has the envelope, a code of the registry and its status', async () => {
  await fc.assert(
    fc.asyncProperty(method, path, body, fc.boolean(), async (verb, address, text, keyed) => {
      const socket = await openRawSocket(app.port);
      const answer = await socket.exchange(
        `${verb} /api/v1${address} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
          `${keyed ? `X-API-Key: ${key}\r\n` : ''}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
      socket.close();
      assertAnswer(answer);
    }),
    { numRuns: 300 },
  );
});

test('paths below the assets that no file has are 404, whatever they try', async () => {
  for (const path of [
    '..',
    '../x',
    '..%2fpackage.json',
    '/x',
    '%2e%2e/x',
    '%00',
    'a%00.js',
    'a//b',
    '%5c..',
  ]) {
    const socket = await openRawSocket(app.port);
    const answer = await socket.exchange(`GET /assets/${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    socket.close();
    assert.equal(answer.status, 404, `${path}: ${answer.text}`);
    assert.equal(answer.at('error.code'), 'NOT_FOUND', path);
  }
});

const value = fc.oneof(fc.jsonValue(), fc.constantFrom('PUBLIC', '2026-11-20T09:00:00Z', 0, -1, 1e300, ''));
const names = [
  'title',
  'visibility',
  'record',
  'reconnectWindowSec',
  'autoStopAfterSec',
  'scheduledStartAt',
  'metadata',
  'externalId',
  'chatMode',
];

test('odd stream settings never cause a server error, and accepted values are returned unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom(...names), value),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
      async (settings, title) => {
        const sent = { title, ...settings };
        const answer = await app.request('POST', '/streams', { key, body: sent });
        assertAnswer(answer);
        if (answer.status !== 201) return;
        const read = await app.request('GET', `/streams/${answer.string('data.id')}`, { key });
        assert.equal(read.at('data.title'), sent.title);
        if ('metadata' in sent) assert.deepEqual(read.at('data.metadata'), sent.metadata);
      },
    ),
    { numRuns: 200 },
  );
});
