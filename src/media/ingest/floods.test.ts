import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { emptyAggregate, emptyMessages, tinyFrames } from '../../../test/rtmp/attacks.ts';
import { RtmpClient } from '../../../test/rtmp/client.ts';
import { openPublisher, STARTED, startIngest, type TestIngest } from '../../../test/rtmp/ingest.ts';
import { audioFrame, videoHeader } from '../../../test/rtmp/media.ts';
import { createLogger } from '../../platform/logger.ts';
import { type PublishSink, RtmpConnection } from '../protocols/rtmp/connection.ts';
import { encodeMessage, MessageType, windowAckSize } from '../protocols/rtmp/messages.ts';
import { close, listen } from './listen.ts';

/** More messages than a publish may send in a burst. */
const TOO_MANY = 5000;

function assertRefused({ calls }: TestIngest, issue: string): void {
  const last = calls.flatMap((call) => {
    if (call.hook === 'refused') return [call.issue];
    return call.hook === 'end' ? [call.end.reason] : [];
  });
  assert.deepEqual(last, [issue, 'kicked'], 'the reason is told before the end');
}

const ping = encodeMessage(
  { type: MessageType.userControl, streamId: 0, timestamp: 0, payload: Buffer.from('000600001234', 'hex') },
  128,
);
const chunkSize = encodeMessage(
  { type: MessageType.setChunkSize, streamId: 0, timestamp: 0, payload: Buffer.of(0, 0, 0, 128) },
  128,
);

for (const [name, bytes] of Object.entries({
  'messages without a payload': emptyMessages(TOO_MANY),
  'frames of two bytes': tinyFrames(TOO_MANY),
  'an aggregate of too many parts': emptyAggregate(513),
  'aggregates of many parts': Buffer.concat(Array.from({ length: 10 }, () => emptyAggregate(500))),
  pings: Buffer.alloc(TOO_MANY * ping.length, ping),
  'changes of the chunk size': Buffer.alloc(TOO_MANY * chunkSize.length, chunkSize),
})) {
  test(`a flood of ${name} ends the publish as exceeding the plan`, async (t) => {
    const ingest = await startIngest(t);
    const client = await openPublisher(t, ingest.port, 'key-a');
    client.write(bytes);
    await waitFor(() => ingest.ends().length === 1, { message: 'the end' });
    assertRefused(ingest, 'BITRATE_OVER_PLAN');
    await client.closedSoon();
  });
}

test('messages at the limit are accepted, and so is an aggregate of 512 parts', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.write(Buffer.concat([emptyMessages(3000), emptyAggregate(512)]));
  client.send({ type: MessageType.audio, streamId: 1, timestamp: 0, payload: audioFrame() });
  await waitFor(() => ingest.sessions('media').length === 1, { message: 'the frame behind them' });
  assert.deepEqual(ingest.sessions('refused'), []);
});

test('input received before the end of a connection is handled, even over many slices', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  const bytes = emptyMessages(3900);
  client.write(bytes);
  client.command(0, 'deleteStream', 6, [null, 1]);
  client.socket.end();
  await waitFor(() => ingest.ends().length === 1, { message: 'the end' });
  const [end] = ingest.ends();
  assert.equal(end?.reason, 'unpublish');
  assert.ok((end?.bytes ?? 0) >= bytes.length, `${end?.bytes} bytes`);
});

test('chunk headers count toward the bitrate', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  const { sessionId } = await waitFor(() => ingest.engine.list()[0]);
  const bytes = emptyMessages(2000);
  client.write(bytes);
  await waitFor(() => ingest.engine.stats(sessionId)?.bytes === bytes.length, { message: 'the bytes' });
});

test('a codec header of more than 64 KiB ends the publish', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.media('video', 0, videoHeader('01'.repeat(70_000)));
  await waitFor(() => ingest.ends().length === 1, { message: 'the end' });
  assertRefused(ingest, 'UNSUPPORTED_CODEC');
});

test('a flood of messages before the publish ends the connection', async (t) => {
  const ingest = await startIngest(t);
  const client = await RtmpClient.connected(ingest.port);
  client.write(Buffer.alloc(500 * ping.length, ping));
  await client.closedSoon();
});

test('an encoder that asks for an acknowledgement of each byte gets few', async (t) => {
  const ingest = await startIngest(t);
  const client = await openPublisher(t, ingest.port, 'key-a');
  client.send(windowAckSize(1));
  const isPong = ({ type, payload }: { type: number; payload: Buffer }) =>
    type === MessageType.userControl && payload[1] === 7;
  for (let round = 1; round <= 20; round += 1) {
    client.write(ping);
    await client.until(() => client.received.filter(isPong).length === round);
  }
  assert.ok(!client.received.some(({ type }) => type === MessageType.acknowledgement));
});

/**
 * Opens a connection with an accepted publish; `turns` records the event loop iteration in which each message
 * was handled.
 */
async function connect(t: TestContext) {
  const turns: number[] = [];
  let turn = 0;
  const timestamps: number[] = [];
  const sink: PublishSink = {
    label: 'publish ing_1',
    isRefused: false,
    received: () => {},
    media({ timestamp }) {
      turns.push(turn);
      timestamps.push(timestamp);
    },
    ended: () => {},
  };
  const host = {
    apps: new Set(['live']),
    handshakeMs: 10_000,
    publishMs: 10_000,
    accept: async () => sink,
  };
  const server = createServer((socket) => new RtmpConnection(socket, host, createLogger('silent')));
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const client = await RtmpClient.connected(port);
  t.after(() => {
    client.destroy();
    return close(server);
  });
  assert.equal(await client.publish('key-a'), STARTED);
  const next = () => {
    turn += 1;
    if (!client.isClosed) setImmediate(next);
  };
  next();
  return { client, turns, timestamps };
}

test('many messages in one packet are handled in slices, in their order', async (t) => {
  const { client, turns, timestamps } = await connect(t);
  const messages = Array.from({ length: 4000 }, (_, timestamp) =>
    encodeMessage({ type: MessageType.audio, streamId: 1, timestamp, payload: Buffer.alloc(0) }, 128, 4),
  );
  client.write(Buffer.concat(messages));
  await waitFor(() => timestamps.length === messages.length, { message: 'all messages' });
  assert.deepEqual(
    timestamps,
    messages.map((_, index) => index),
  );
  const perTurn = Map.groupBy(turns, (turn) => turn);
  const largest = Math.max(...[...perTurn.values()].map(({ length }) => length));
  assert.ok(largest <= 128, `${largest} messages in one iteration of the event loop`);
});

test('one message in 100,000 chunks is read in slices', async (t) => {
  const { client, turns } = await connect(t);
  const payload = Buffer.alloc(100_000);
  const beforeTurn = turns.length;
  client.write(
    Buffer.concat([
      encodeMessage(
        { type: MessageType.setChunkSize, streamId: 0, timestamp: 0, payload: Buffer.of(0, 0, 0, 1) },
        128,
      ),
      encodeMessage({ type: MessageType.audio, streamId: 1, timestamp: 0, payload: Buffer.alloc(0) }, 1, 4),
      encodeMessage({ type: MessageType.audio, streamId: 1, timestamp: 1, payload }, 1, 4),
    ]),
  );
  await waitFor(() => turns.length === beforeTurn + 2, { message: 'both messages' });
  const [first = 0, last = 0] = turns;
  // 128 steps of 64 chunks.
  assert.ok(last - first >= payload.length / (128 * 64) - 1, `read in ${last - first} iterations`);
});
