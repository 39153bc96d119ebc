import assert from 'node:assert/strict';
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { startTcp } from '../../../test/restream/destinations.ts';
import { emptyAggregate, emptyMessages } from '../../../test/rtmp/attacks.ts';
import type { PushUrl } from '../../kernel/push-url.ts';
import { RtmpClient } from '../protocols/rtmp/client.ts';
import { acknowledgement, command, encodeMessage } from '../protocols/rtmp/messages.ts';
import { SrtClient } from '../protocols/srt/client.ts';
import {
  Control,
  control,
  HandshakeType,
  HEADER_BYTES,
  PAYLOAD_BYTES,
  writeLosses,
} from '../protocols/srt/packets.ts';
import type { PushError } from './failure.ts';

const ACCEPTED = [
  command(0, '_result', 1, [null]),
  command(0, '_result', 4, [null, 1]),
  command(1, 'onStatus', 0, [null, { level: 'status', code: 'NetStream.Publish.Start' }]),
  command(1, 'onStatus', 0, [null, { level: 'status', code: 'NetStream.Play.Start' }]),
].map((message) => encodeMessage(message, 128));

/** A client of a server that accepts anything and then sends these bytes. */
async function connectTo(t: TestContext, bytes: Buffer, isPlay: boolean) {
  const port = await startTcp(t, (socket) => {
    let received = 0;
    socket.on('data', (data) => {
      if (received === 0) socket.write(Buffer.alloc(1 + 1536 + 1536, 3));
      const isNew = received <= 3073;
      received += data.length;
      if (isNew && received > 3073) socket.write(Buffer.concat([...ACCEPTED, bytes]));
    });
  });
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  const address: PushUrl = {
    ...{ scheme: 'rtmp', host: '127.0.0.1', port, app: 'live' },
    ...{ query: new URLSearchParams(), guarded: `rtmp://127.0.0.1:${port}/live` },
  };
  const seen: { messages: number; turn: number; turns: number[]; failure: PushError | null } = {
    ...{ messages: 0, turn: 0, turns: [], failure: null },
  };
  const next = () => {
    seen.turn += 1;
    if (!socket.destroyed) setImmediate(next);
  };
  next();
  const onMedia = () => {
    seen.messages += 1;
    seen.turns.push(seen.turn);
  };
  new RtmpClient({
    ...{ socket, address, streamKey: 'a', onAccepted() {} },
    onFailure(failure) {
      seen.failure ??= failure;
      socket.destroy();
    },
    ...(isPlay ? { play: { onMedia, onEnded() {} } } : {}),
  });
  return seen;
}

const TOO_MUCH = /sent more data than expected/;

test('a destination that floods its publisher with replies is disconnected', async (t) => {
  const reply = encodeMessage(acknowledgement(1), 128);
  const seen = await connectTo(t, Buffer.alloc(70_000 * reply.length, reply), false);
  await waitFor(() => seen.failure !== null);
  assert.match(seen.failure?.message ?? '', TOO_MUCH);
});

test('a source that floods its player with empty messages is disconnected', async (t) => {
  const seen = await connectTo(t, emptyMessages(10_000), true);
  await waitFor(() => seen.failure !== null);
  assert.match(seen.failure?.message ?? '', TOO_MUCH);
  assert.ok(seen.messages <= 4500, `${seen.messages} messages were handed on`);
});

test('a source that sends aggregates of many parts is disconnected', async (t) => {
  const bytes = Buffer.concat(Array.from({ length: 20 }, () => emptyAggregate(500)));
  const seen = await connectTo(t, bytes, true);
  await waitFor(() => seen.failure !== null);
  assert.ok(seen.messages <= 4500, `${seen.messages} messages were handed on`);
});

test('what a source sends in one packet is handled in slices', async (t) => {
  const seen = await connectTo(t, emptyMessages(3000), true);
  await waitFor(() => seen.messages === 3000, { message: 'all messages' });
  const largest = Math.max(...[...Map.groupBy(seen.turns, (turn) => turn).values()].map((one) => one.length));
  assert.ok(largest <= 128, `${largest} messages in one iteration of the event loop`);
});

/** An SRT listener that accepts its caller. */
async function startListener(t: TestContext) {
  const peer = createSocket('udp4').bind(0, '127.0.0.1');
  await once(peer, 'listening');
  t.after(() => peer.close());
  const socket: DatagramSocket = createSocket('udp4');
  socket.connect(peer.address().port, '127.0.0.1');
  await once(socket, 'connect');
  const seen = { data: 0, destination: 0, sequence: 0, ackAcks: 0 };
  peer.on('message', (packet, { port }) => {
    if ((packet.readUInt8(0) & 0x80) === 0) {
      seen.data += 1;
      seen.sequence = packet.readUInt32BE(0);
    } else if (packet.readUInt16BE(0) === (0x8000 | Control.ackAck)) seen.ackAcks += 1;
    else if (packet.readUInt16BE(0) === (0x8000 | Control.handshake)) {
      const body = Buffer.from(packet.subarray(HEADER_BYTES));
      seen.destination = body.readUInt32BE(24);
      const isInduction = body.readUInt32BE(20) === HandshakeType.induction;
      if (isInduction) body.writeUInt32BE(5, 0);
      peer.send(
        control(Control.handshake, { timestamp: 0, destination: seen.destination }, body),
        port,
        '127.0.0.1',
      );
    }
  });
  const client = new SrtClient({ socket, streamId: null, latencyMs: 200, key: null });
  t.after(() => client.end());
  await client.accepted;
  const { port } = socket.address();
  const send = (type: number, info = 0, body?: Buffer) =>
    peer.send(control(type, { info, timestamp: 0, destination: seen.destination }, body), port, '127.0.0.1');
  return { client, socket, seen, send };
}

test('an SRT peer that floods its caller with control packets is disconnected', async (t) => {
  const { client, send } = await startListener(t);
  let failure: PushError | null | undefined;
  void client.closed.then((closed) => {
    failure = closed;
  });
  await waitFor(
    () => {
      for (let packets = 0; packets < 200; packets += 1) send(Control.keepAlive);
      return failure !== undefined;
    },
    { intervalMs: 5, message: 'the end' },
  );
  assert.match(failure?.message ?? '', /sends too many packets/);
});

test('SRT loss reports do not multiply the data sent', async (t) => {
  const { client, socket, seen, send } = await startListener(t);
  // Packets that fit the receive buffer of a socket.
  const packets = 80;
  const reports = 50;
  client.write(Buffer.alloc(packets * PAYLOAD_BYTES));
  await waitFor(() => seen.data >= packets, { message: 'the media' });
  const all = Array.from({ length: packets }, (_, index) => seen.sequence - packets + 1 + index);
  const sending = t.mock.method(socket, 'send');
  for (let report = 0; report < reports; report += 1) send(Control.nak, 0, writeLosses(all));
  send(Control.ack, 1);
  await waitFor(() => seen.ackAcks === 1, { message: 'the reports to be read' });
  const sent = sending.mock.callCount();
  assert.ok(sent > 0 && sent < (packets * reports) / 2, `${sent} packets were sent`);
});
