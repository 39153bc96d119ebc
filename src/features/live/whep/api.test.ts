import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';
import { sdpCaller } from '../../../../test/harness/sdp-request.ts';

let app: TestApp;
let key: string;
before(async () => {
  app = await startTestApp();
  ({ key } = await app.createKey());
});
after(() => app.close());

const SDP = { 'content-type': 'application/sdp' };
const OFFER = 'v=0\r\n';

const call = sdpCaller(() => app);

const play = (id: string, body = OFFER) => call('POST', `/whep/${id}`, SDP, body);
const make = async (settings: object = {}) => {
  const made = await app.request('POST', '/streams', { key, body: { title: 'By WebRTC', ...settings } });
  return made.assertOk(201).string('data.id');
};

test('a stream that is not live, unknown or hidden from the viewer gets 404', async () => {
  const [open, closed] = [await make(), await make({ visibility: 'PRIVATE' })];
  assert.equal((await play(open)).status, 404);
  (await app.request('POST', `/streams/${closed}/start`, { key })).assertOk(200);
  for (const id of [closed, 'str_01kafe3n4pfx2v9yq6m8d7t5zr', 'anything']) {
    const { status, error } = await play(id);
    assert.deepEqual([status, error.code], [404, 'NOT_FOUND'], id);
  }
});

test('HLS remains available without a signal or a media role with WHEP', async () => {
  const id = await make();
  const started = await app.request('POST', `/streams/${id}/start`, { key });
  assert.equal(started.assertOk(200).at('data.whepUrl'), null);
  const away = await play(id);
  assert.deepEqual([away.status, away.error.code], [503, 'SERVICE_UNAVAILABLE']);
});

test('an offer is a session description of limited size', async () => {
  const id = await make();
  for (const body of ['', 'v=1', '{}', 'v=0\0']) {
    const bad = await play(id, body);
    assert.deepEqual([bad.status, bad.error.code, bad.error.field], [400, 'BAD_REQUEST', 'body'], body);
  }
  const json = await call('POST', `/whep/${id}`, { 'content-type': 'application/json' }, '{}');
  assert.deepEqual([json.status, json.error.field], [415, 'Content-Type']);
  assert.equal((await play(id, OFFER + 'a'.repeat(70_000))).status, 413);
});

test('scripts of every site may call WHEP, and the session URL suffices to end a session', async () => {
  const asked = await call('OPTIONS', '/whep/any', {
    origin: 'https://example.com',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  });
  assert.deepEqual([asked.status, asked.headers.get('access-control-allow-origin')], [204, '*']);
  assert.match(String(asked.headers.get('access-control-allow-methods')), /POST.*DELETE|DELETE.*POST/);
  assert.equal((await call('DELETE', '/whep/sessions/unknown', {})).status, 404);
  const type = 'application/trickle-ice-sdpfrag';
  assert.equal((await call('PATCH', '/whep/sessions/unknown', { 'content-type': type }, 'a=b')).status, 404);
});

test('an IP address may send sixty requests per minute', async () => {
  const statuses = new Set<number>();
  for (let left = 70; left > 0; left -= 1) statuses.add((await play('none')).status);
  assert.ok(statuses.has(429));
});

test('the endpoints exist and return no content', async () => {
  for (const method of ['GET', 'HEAD']) {
    assert.equal((await call(method, '/whep/any', {})).status, 204);
    assert.equal((await call(method, '/whep/sessions/unknown', {})).status, 404);
  }
  const { status, headers } = await call('PUT', '/whep/any', {});
  assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD, POST, OPTIONS']);
});
