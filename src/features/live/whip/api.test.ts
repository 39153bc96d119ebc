import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { type SdpAnswer, sdpCaller } from '../../../../test/harness/sdp-request.ts';
import { publishTo } from '../../../../test/harness/whip-node.ts';

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
  assert.equal(none.headers.get('www-authenticate'), 'Bearer');
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

test('WHIP is unavailable without a media role that serves it', async () => {
  for (const [path, headers] of [
    ['/whip', { ...SDP, authorization: `Bearer ${streamKey}` }],
    [`/whip/${streamKey}`, SDP],
  ] as const) {
    const away = await call('POST', path, headers, OFFER);
    assert.deepEqual([away.status, away.error.code], [503, 'SERVICE_UNAVAILABLE']);
  }
});

test('a session accepts candidates and ignores them', async () => {
  const ice = 'a=ice-ufrag:abcd\r\n';
  const { status, session } = await publishTo(app, { nodeId: 'node', streamKey, offer: OFFER + ice });
  assert.equal(status, 201);
  const fragment = `${ice}m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n`;
  const patch = (body: string, headers: Record<string, string> = {}, path = session) =>
    call('PATCH', path, { 'content-type': 'application/trickle-ice-sdpfrag', ...headers }, body);
  for (const headers of [{}, { 'if-match': '*' }] as const) {
    const taken = await patch(fragment, headers);
    assert.deepEqual([taken.status, taken.headers.get('etag')], [204, null]);
  }
  const refused: [SdpAnswer, number, string][] = [
    [await patch(fragment.replace('abcd', 'efgh')), 422, 'body'],
    [await patch(fragment, { 'if-match': '"abc"' }), 412, 'If-Match'],
    [await patch(''), 400, 'body'],
    [await patch('{"candidate": 1}'), 400, 'body'],
    [await patch(fragment, { 'content-type': 'application/sdp' }), 415, 'Content-Type'],
  ];
  for (const [answer, expected, field] of refused)
    assert.deepEqual([answer.status, answer.error.field], [expected, field]);
  assert.equal(refused.at(-1)?.[0].headers.get('accept-patch'), 'application/trickle-ice-sdpfrag');
  assert.equal((await call('GET', session, {})).status, 204);

  assert.equal((await patch(fragment, {}, '/whip/sessions/unknown')).status, 404);
  // An entity tag has no effect here (RFC 9725, section 4.3.1).
  assert.equal((await call('DELETE', session, { 'if-match': '"abc"' })).status, 200);
  for (const method of ['DELETE', 'GET']) assert.equal((await call(method, session, {})).status, 404);
  assert.equal((await patch(fragment)).status, 404);
});

test('scripts of every site may publish, and preflight lists the accepted headers', async () => {
  const asked = (path: string, method: string, headers: string) =>
    call('OPTIONS', path, {
      origin: 'https://example.com',
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    });
  const offering = await asked('/whip', 'POST', 'authorization, content-type');
  const trickling = await asked('/whip/sessions/any', 'PATCH', 'authorization, content-type, if-match');
  for (const { status, headers } of [offering, trickling]) {
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [204, '*']);
    const accepted = String(headers.get('access-control-allow-headers'));
    for (const name of ['Authorization', 'Content-Type', 'If-Match'])
      assert.ok(accepted.includes(name), name);
    assert.match(String(headers.get('access-control-allow-methods')), /POST.*PATCH.*DELETE/);
  }
  assert.equal(offering.headers.get('accept-post'), 'application/sdp');
  assert.equal(trickling.headers.get('accept-patch'), 'application/trickle-ice-sdpfrag');
});

test('the endpoints exist and return no content', async () => {
  for (const method of ['GET', 'HEAD']) {
    for (const path of ['/whip', '/whip/any']) assert.equal((await call(method, path, {})).status, 204);
    assert.equal((await call(method, '/whip/sessions/unknown', {})).status, 404);
  }
  for (const path of ['/whip', '/whip/any', '/whip/sessions/unknown']) {
    const allow = path.includes('sessions')
      ? 'GET, HEAD, PATCH, DELETE, OPTIONS'
      : 'GET, HEAD, POST, OPTIONS';
    const { status, headers } = await call('PUT', path, {});
    assert.deepEqual([status, headers.get('allow')], [405, allow], path);
  }
});
