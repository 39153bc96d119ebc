import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { createTestCa } from '../../../test/harness/certificates.ts';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { RtmpClient } from '../../../test/rtmp/client.ts';
import { openPublisher, REFUSED, STARTED, startIngest } from '../../../test/rtmp/ingest.ts';
import { videoFrame } from '../../../test/rtmp/media.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { windowAckSize } from '../protocols/rtmp/messages.ts';
import { createEmbeddedRtmp } from './embedded-rtmp.ts';

test('two engines live in one process, and a port in use rejects with the plain error', async (t) => {
  const one = await startIngest(t);
  const two = await startIngest(t);
  await openPublisher(t, one.port, 'key-a');
  await openPublisher(t, two.port, 'key-a');
  assert.equal(one.ends().length + two.ends().length, 0, 'no takeover across engines');
  const third = createEmbeddedRtmp({
    host: '127.0.0.1',
    port: one.port,
    nodeId: 'n',
    log: createLogger('silent'),
    clock: systemClock,
  });
  const hooks = {
    authorise: async () => null,
    onStart: async () => {},
    onMedia: () => {},
    onRefused: async () => {},
    onEnd: async () => {},
  };
  await assert.rejects(third.start(hooks), { code: 'EADDRINUSE' });
});

test('connections per address are limited, and freed when they close', async (t) => {
  const ingest = await startIngest(t, { limits: { connectionsPerAddress: 2 } });
  const first = await RtmpClient.handshaken(ingest.port);
  const second = await RtmpClient.handshaken(ingest.port);
  t.after(() => second.destroy());
  const third = await RtmpClient.open(ingest.port);
  await third.closedSoon();
  first.destroy();
  await first.closedSoon();
  const fourth = await waitFor(() => RtmpClient.connected(ingest.port));
  t.after(() => fourth.destroy());
});

test('all connections together are limited', async (t) => {
  const ingest = await startIngest(t, { limits: { connections: 1 } });
  const first = await RtmpClient.handshaken(ingest.port);
  t.after(() => first.destroy());
  const second = await RtmpClient.open(ingest.port);
  await second.closedSoon();
});

test('no handshake, and no publish after it, end in time', async (t) => {
  const ingest = await startIngest(t, { limits: { handshakeMs: 200, publishMs: 200 } });
  const mute = await RtmpClient.open(ingest.port);
  const halting = await RtmpClient.connected(ingest.port);
  await Promise.all([mute.closedSoon(), halting.closedSoon()]);
});

test('a connection that is not RTMP is closed at its first byte', async (t) => {
  const ingest = await startIngest(t);
  for (const text of ['G', '\x16', '\x06', '\x00']) {
    const client = await RtmpClient.open(ingest.port);
    client.write(Buffer.from(text, 'latin1'));
    await client.closedSoon();
    assert.deepEqual(client.received, []);
  }
});

test('data of an encoder is acknowledged by the window it requested', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.send(windowAckSize(10_000));
  client.setChunkSize(4096);
  for (let i = 0; i < 10; i++) client.media('video', i * 40, videoFrame(i === 0, 5000));
  await client.until(() => client.received.some((message) => message.type === 3));
  const ack = client.received.find((message) => message.type === 3);
  assert.ok((ack?.payload.readUInt32BE(0) ?? 0) >= 10_000);
});

test('2.5 MB are acknowledged when the encoder sets no window', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.setChunkSize(65536);
  for (let i = 0; i < 30; i++) client.media('video', i * 40, videoFrame(i === 0, 100_000));
  await client.until(() => client.received.some((message) => message.type === 3));
});

test('a ping gets a response', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.send({ type: 4, streamId: 0, timestamp: 0, payload: Buffer.from('000600001234', 'hex') });
  await client.until(() =>
    client.received.some((message) => message.payload.toString('hex') === '000700001234'),
  );
});

test('RTMPS has all properties of the plain server, limits included', async (t) => {
  const ca = await createTestCa();
  t.after(() => ca.close());
  const tls = { port: 0, ...(await ca.issue(['127.0.0.1'])) };
  const ingest = await startIngest(t, { tls, limits: { connectionsPerAddress: 1 } });
  const secure = { tls: true };
  const client = await RtmpClient.connected(ingest.engine.ports.rtmps, secure);
  assert.equal(await client.publish('key-a'), STARTED);
  assert.equal(ingest.sessions('start')[0]?.protocol, 'rtmps');
  const tooMany = await RtmpClient.open(ingest.engine.ports.rtmps, secure);
  await tooMany.closedSoon();
  client.destroy();
  await waitFor(() => ingest.ends().length === 1);
  const noTls = await waitFor(() => RtmpClient.open(ingest.engine.ports.rtmps));
  noTls.write(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  await noTls.closedSoon();
  const next = await waitFor(() => RtmpClient.connected(ingest.engine.ports.rtmps, secure));
  t.after(() => next.destroy());
  assert.equal(await next.publish('key-a'), STARTED);
});

test('no log line holds a stream key', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const ingest = await startIngest(t, { log });
  const good = await openPublisher(t, ingest.port, 'key-secretgood?a=secretquery');
  good.command(0, 'connect', 9, [{ app: 'live', tcUrl: 'rtmp://host/live/secrettcurl' }]);
  await good.closedSoon();
  const bad = await RtmpClient.connected(ingest.port);
  assert.equal(await bad.publish('secretbad'), REFUSED);
  const failing = await startIngest(t, { log }, { onStart: () => Promise.reject(new Error('no database')) });
  assert.equal(await (await RtmpClient.connected(failing.port)).publish('key-secretgood'), REFUSED);
  await waitFor(() => ingest.ends().length === 1);
  assert.ok(lines.length >= 4, 'something is logged');
  const text = lines.join('').replaceAll('str_secretgood', '');
  assert.doesNotMatch(text, /secret/);
});
