import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { startTestApp, type TestApp } from '../../test/harness/app.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

async function get(headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') {
  const answer = await request(`${app.url}/openapi.json`, { method, headers });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: Buffer.from(await answer.body.bytes()),
  };
}

test('the document is compressed for clients that accept it, with identical content', async () => {
  const plain = await get({});
  assert.equal(plain.status, 200);
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.match(String(plain.headers['content-type']), /^application\/json/);
  assert.match(String(plain.headers.vary), /Accept-Encoding/);
  const brotli = await get({ 'accept-encoding': 'gzip, deflate, br' });
  assert.equal(brotli.headers['content-encoding'], 'br');
  assert.deepEqual(brotliDecompressSync(brotli.bytes), plain.bytes);
  const gzip = await get({ 'accept-encoding': 'gzip;q=0.5, br;q=0' });
  assert.equal(gzip.headers['content-encoding'], 'gzip');
  assert.deepEqual(gunzipSync(gzip.bytes), plain.bytes);
  assert.ok(gzip.bytes.length < plain.bytes.length / 8, `${gzip.bytes.length} of ${plain.bytes.length}`);
  assert.equal((await get({ 'accept-encoding': '*;q=0' })).headers['content-encoding'], undefined);
});

test('a client with the current version gets 304', async () => {
  const { headers } = await get({ 'accept-encoding': 'br' });
  const tag = String(headers.etag);
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await get({ 'accept-encoding': 'br', 'if-none-match': known });
    assert.equal(again.status, 304, known);
    assert.equal(again.bytes.length, 0);
    assert.equal(again.headers.etag, tag);
  }
  assert.equal((await get({ 'if-none-match': '"other"' })).status, 200);
  assert.notEqual((await get({})).headers.etag, tag);
});

test('HEAD returns the content length', async () => {
  const { headers } = await get({});
  const head = await get({}, 'HEAD');
  assert.equal(head.status, 200);
  assert.equal(head.bytes.length, 0);
  assert.equal(head.headers['content-length'], headers['content-length']);
});

test('its server is the address of this installation', async () => {
  const { bytes } = await get({});
  assert.equal(JSON.parse(bytes.toString()).servers[0].url, `${app.container.config.PUBLIC_URL}/api/v1`);
});
