import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../test/harness/app.ts';
import { sdpCaller } from '../../../test/harness/sdp-request.ts';

let app: TestApp;
let streamKey: string;
before(async () => {
  app = await startTestApp();
  const { key } = await app.createKey();
  const made = await app.request('POST', '/streams', { key, body: { title: 'By WebRTC' } });
  streamKey = made.assertOk(201).string('data.streamKey');
});
after(() => app.close());

const SDP = { 'content-type': 'application/sdp' };
const OFFER = 'v=0\r\n';

const call = sdpCaller(() => app);

test('a publish by WHIP needs a stream key and a session description', async () => {
  const bearer = { authorization: `Bearer ${streamKey}` };
  const none = await call('POST', '/whip', SDP, OFFER);
  assert.deepEqual([none.status, none.error.code], [401, 'UNAUTHORIZED']);
  const wrong = await call('POST', '/whip', { ...SDP, authorization: 'Bearer wrong' }, OFFER);
  assert.deepEqual([wrong.status, wrong.error.code], [401, 'UNAUTHORIZED']);
  assert.equal((await call('POST', '/whip/wrong', SDP, OFFER)).status, 401);
  for (const body of ['', 'v=1', '{}', 'v=0\0']) {
    const bad = await call('POST', '/whip', { ...SDP, ...bearer }, body);
    assert.deepEqual([bad.status, bad.error.code, bad.error.field], [400, 'BAD_REQUEST', 'body'], body);
  }
  const json = await call('POST', '/whip', { 'content-type': 'application/json', ...bearer }, '{}');
  assert.deepEqual([json.status, json.error.field], [415, 'Content-Type']);
  const large = await call('POST', '/whip', { ...SDP, ...bearer }, OFFER + 'a'.repeat(70_000));
  assert.equal(large.status, 413);
});

test('without a media role that carries it there is no WHIP', async () => {
  for (const [path, headers] of [
    ['/whip', { ...SDP, authorization: `Bearer ${streamKey}` }],
    [`/whip/${streamKey}`, SDP],
  ] as const) {
    const away = await call('POST', path, headers, OFFER);
    assert.deepEqual([away.status, away.error.code], [503, 'SERVICE_UNAVAILABLE']);
  }
});

test('a session is ended by its address alone, and not changed', async () => {
  assert.equal((await call('DELETE', '/whip/sessions/unknown', {})).status, 404);
  const patched = await call('PATCH', '/whip/sessions/unknown', { 'content-type': 'text/plain' }, 'a');
  assert.deepEqual([patched.status, patched.headers.get('allow')], [405, 'DELETE']);
});

test('what later versions of the protocol may use is refused, and not missing', async () => {
  for (const path of ['/whip', '/whip/any', '/whip/sessions/unknown']) {
    const allow = path.includes('sessions') ? 'DELETE, OPTIONS' : 'POST, OPTIONS';
    for (const method of ['GET', 'HEAD', 'PUT']) {
      const { status, headers } = await call(method, path, {});
      assert.deepEqual([status, headers.get('allow')], [405, allow], `${method} ${path}`);
    }
  }
});
