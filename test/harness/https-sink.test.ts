import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, request } from 'undici';
import { type HttpsSink, hostile, startHttpsSink } from './https-sink.ts';

let sink: HttpsSink;
let agent: Agent;

before(async () => {
  sink = await startHttpsSink();
  agent = new Agent({ connect: { ca: sink.ca.pem } });
});
after(async () => {
  await agent.destroy();
  await sink.close();
});

const post = (path: string, body = '', signal?: AbortSignal) =>
  request(sink.url + path, { method: 'POST', body, dispatcher: agent, signal: signal ?? null });

test('requests are recorded byte for byte and get the configured response', async () => {
  sink.reply = (_request, index) => ({ status: 201, headers: { 'x-index': String(index) }, body: 'ok' });
  const response = await post('/hook?a=1', 'body é');
  assert.equal(response.statusCode, 201);
  assert.equal(response.headers['x-index'], '0');
  assert.equal(await response.body.text(), 'ok');
  const [seen] = await sink.waitFor(1);
  assert.equal(seen?.path, '/hook?a=1');
  assert.deepEqual(seen?.rawBody, Buffer.from('body é'));
});

test('a client that does not trust the authority is rejected', async () => {
  await assert.rejects(request(sink.url), /certificate/);
});

test('faults happen: reset, hang, drip, redirect, NUL bytes, gzip bomb', async () => {
  sink.reply = () => ({ fault: 'reset' });
  await assert.rejects(post('/'), /ECONNRESET|other side closed/);
  sink.reply = () => ({ fault: 'hang' });
  await assert.rejects(post('/', '', AbortSignal.timeout(200)), /abort/i);
  sink.reply = () => ({ fault: 'drip' });
  const dripping = await post('/', '', AbortSignal.timeout(300));
  assert.equal(dripping.statusCode, 200);
  await assert.rejects(dripping.body.text(), /abort/i);
  sink.reply = () => hostile.redirect('https://elsewhere.test/');
  const redirect = await post('/');
  assert.equal(redirect.headers.location, 'https://elsewhere.test/');
  await redirect.body.dump();
  sink.reply = () => hostile.nulBytes();
  assert.ok((await (await post('/')).body.text()).includes('\0'));
  sink.reply = () => hostile.gzipBomb(2 ** 20);
  const bomb = Buffer.from(await (await post('/')).body.arrayBuffer());
  assert.ok(bomb.length < 10_000);
});
